import { Command } from 'commander';
import { GRADIENT_PROGRAMS } from '../../src/compiler/testing/gradient-programs/gradient-programs.ts';
import type { Device } from '../../src/device/device.ts';
import { createHostDevice } from '../../src/device/host/host-device.ts';
import { oneGpuDevice } from '../../src/device/testing/one-gpu-device.ts';
import { createWasmDevice } from '../../src/device/wasm/wasm-device.ts';
import { adjointOf } from '../../src/ops/tables/adjoints.ts';
import { CORE_OPERATORS } from '../../src/ops/tables/core-operators.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { runCommand } from '../run-command.ts';
import { type Devices, measureOperator, WANTING_SIZES } from './gradients/measure-operator.ts';
import { measureProgram } from './gradients/measure-program.ts';
import {
  type Measured,
  openGradientPage,
  type OpenedGradientPage,
} from './gradients/open-gradient-page.ts';
import { headOf, lineOf, mergeRows, type Row } from './gradients/row.ts';

const CHROMIUM = 'Chromium';

/** Devices in this process, by the word that chooses them and the name in the table. */
const OPENED: Readonly<Record<string, () => Device | Promise<Device>>> = {
  host: () => createHostDevice(),
  wasm: () => createWasmDevice(),
  WebGPU: () => oneGpuDevice(nodeGpu)(),
};

const NAMES = [...Object.keys(OPENED), CHROMIUM];

/** `npm run show -- gradients`: resolves to 0 only when all derivatives hold on all devices. */
export async function main(words: readonly string[] = []): Promise<number> {
  const command = new Command('gradients')
    .description(
      'Compares derivatives of all operators and of programs with central differences, on each device.',
    )
    .argument('[device...]', `of ${NAMES.join(', ')}; all of them by default`)
    .option('--only <text>', 'operators and programs whose names have this text');
  return runCommand(command, words, async () => {
    const unknown = command.args.filter((name) => !NAMES.includes(name));
    if (unknown.length > 0)
      throw new Error(`got ${unknown.join(', ')}, expected ${NAMES.join(', ')}`);
    const names = NAMES.filter((name) => command.args.length === 0 || command.args.includes(name));
    const { only = '' } = command.opts<{ only?: string }>();
    return show(names, only);
  });
}

async function show(names: readonly string[], only: string): Promise<number> {
  const devices: Record<string, Device> = {};
  for (const name of names) {
    const opened = await OPENED[name]?.();
    if (opened !== undefined) devices[name] = opened;
  }
  const page = names.includes(CHROMIUM) ? await openGradientPage() : undefined;
  try {
    const operators = [...CORE_OPERATORS].filter((op) => typeof adjointOf(op) === 'function');
    const all = (['operator', 'program'] as const).map((kind) => {
      const titles =
        kind === 'operator'
          ? operators.map(({ name }) => name)
          : GRADIENT_PROGRAMS.map(({ title }) => title);
      return { kind, titles: titles.filter((title) => title.includes(only)) };
    });
    const rows: Row[] = [];
    for (const { kind, titles } of all) {
      console.log(`\n${headOf(kind, names)}`);
      for (const title of titles) {
        const row = await measure(kind, title, { devices, page });
        console.log(lineOf(row, names));
        rows.push(row);
      }
    }
    return conclude(rows);
  } finally {
    await page?.close();
    for (const device of Object.values(devices)) device.destroy();
  }
}

async function measure(
  kind: Measured,
  title: string,
  { devices, page }: { readonly devices: Devices; readonly page: OpenedGradientPage | undefined },
): Promise<Row> {
  const here = kind === 'operator' ? measureOperator : measureProgram;
  const row = Object.keys(devices).length > 0 ? await here(title, devices) : undefined;
  const other = await page?.measure(kind, title);
  if (row !== undefined) return other === undefined ? row : mergeRows(row, other);
  if (other === undefined) throw new Error('no device');
  return other;
}

/** States what was left out and what failed, and gives the exit status. */
function conclude(rows: readonly Row[]): number {
  console.log('\nleft out');
  const reasons = new Map<string, string[]>();
  for (const { title, leftOut } of rows) {
    for (const [reason, count] of Object.entries(leftOut)) {
      reasons.set(reason, [...(reasons.get(reason) ?? []), `${title} ${count}`]);
    }
  }
  for (const [reason, titles] of reasons) console.log(`  ${reason}: ${titles.join(', ')}`);
  const without = (adjoint: string | undefined): string =>
    [...CORE_OPERATORS].flatMap((op) => (adjointOf(op) === adjoint ? [op.name] : [])).join(', ');
  console.log(`  symbols for sizes, on the host: ${WANTING_SIZES.join(', ')}`);
  console.log(`  results that are no floats: ${without('discrete')}`);
  console.log(`  results that change in steps, with the derivative 0: ${without('zero')}`);
  console.log(`  operators without an adjoint: ${without(undefined)}`);
  const failures = rows.flatMap((row) => row.failures);
  for (const failure of failures) console.error(failure);
  const compared = rows.reduce((sum, row) => sum + row.compared, 0);
  if (failures.length > 0 || compared === 0) {
    console.log(`\n${failures.length} FAILED`);
    return 1;
  }
  console.log(`\nall ${rows.length} hold: ${compared} derivatives on each device`);
  return 0;
}
