import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Executable } from '../../src/bytecode/file/executable-file.ts';
import { compile } from '../../src/compiler/compile.ts';
import { median } from '../../src/core/median.ts';
import { compileOnnx } from '../../src/frontend/onnx/compile-onnx.ts';
import { elementwiseChain } from './elementwise-chain.ts';
import { elementwiseGradient, layerGradient, type WithGradient } from './gradient-chain.ts';

/** Models of our own, and models of others where they lie beside this repository. */
const FOLDERS = ['../../models/', '../../../shared/models/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const DEFAULT_MODELS = ['detector', 'digits', 'transformer'];
const DEFAULT_MODELS_OF_OTHERS = [
  'gpt2-past-tiny',
  'light-resnet50',
  'bert-toy',
  'squeezenet-coreml',
  'ultraface-rfb-320',
];

const CHAIN_LENGTHS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];
const GRADIENT_LENGTHS = [1_000, 2_000, 4_000, 8_000];
const REPEATS = 5;

/**
 * Times the compiler: ONNX models from bytes to an executable, and chains of elementwise calls.
 * `peak bytes` are the storages of activations that the plan holds at once, `of largest` their
 * share of the largest set of values alive at once; `-` where all sizes are symbolic. Arguments:
 * names of models. Resolves to the exit status: 1 when a second compilation gives
 * other bytes than the first.
 */
export async function main(args: readonly string[]): Promise<number> {
  const others = DEFAULT_MODELS_OF_OTHERS.filter((name) => fileOf(name) !== undefined);
  const names = args.length > 0 ? args : [...DEFAULT_MODELS, ...others];
  const files = new Map<string, string>();
  for (const name of names) {
    const file = fileOf(name);
    if (file === undefined) {
      console.error(`There is no model ${name} in ${FOLDERS.join(' or ')}.`);
      return 1;
    }
    files.set(name, file);
  }
  let status = 0;
  console.log(
    row([
      'model',
      'first ms',
      'median ms',
      'CPU ms',
      'kernels',
      'bytes',
      'peak bytes',
      'of largest',
      'same bytes',
    ]),
  );
  for (const [name, file] of files) {
    const bytes = readFileSync(file);
    let peak = 0;
    let live = 0;
    let isSized = true;
    const { times, cpu, executable, isStable } = measure(() =>
      compileOnnx(bytes, {
        onMemoryPlan({ functions }) {
          peak = Math.max(...functions.map(({ plannedPeakBytes }) => plannedPeakBytes));
          live = Math.max(...functions.map(({ largestLiveSetBytes }) => largestLiveSetBytes));
          isSized = functions.every(({ unsizedTensors }) => unsizedTensors === 0);
        },
      }),
    );
    const [first = 0] = times;
    const cells = [first, median(times), median(cpu)].map((ms) => ms.toFixed(0));
    const size = executable.toBytes().byteLength;
    if (!isStable) status = 1;
    const memory = isSized ? [peak, (peak / live).toFixed(2)] : ['-', '-'];
    const kernels = countKernelCalls(executable);
    console.log(row([name, ...cells, kernels, size, ...memory, isStable ? 'yes' : 'NO']));
  }
  console.log(`\n${row(['chain', 'first ms', 'median ms', 'CPU ms', 'us/node'])}`);
  for (const length of CHAIN_LENGTHS) {
    const module = elementwiseChain(length);
    const { times, cpu } = measure(() => compile(module));
    const best = Math.min(...cpu);
    const cells = [times[0] ?? 0, median(times), median(cpu)].map((ms) => ms.toFixed(0));
    console.log(row([length, ...cells, ((1000 * best) / length).toFixed(1)]));
  }
  timeGradients('gradient, elementwise', elementwiseGradient);
  timeGradients('gradient, layers', layerGradient);
  return status;
}

/** Chains with their gradients, beside those without. */
function timeGradients(title: string, make: (length: number) => WithGradient): void {
  console.log(`\n${row([title, 'forward CPU', 'both CPU', 'ratio', 'us/node'])}`);
  const best = new Map<number, number>();
  for (const length of GRADIENT_LENGTHS) {
    const { forward, withGradient } = make(length);
    const alone = Math.min(...measure(() => compile(forward)).cpu);
    const both = Math.min(...measure(() => compile(withGradient)).cpu);
    best.set(length, both);
    const cells = [alone.toFixed(0), both.toFixed(0), (both / alone).toFixed(1)];
    console.log(row([length, ...cells, ((1000 * both) / length).toFixed(1)]));
  }
  const [first = 1, last = 1] = [GRADIENT_LENGTHS[0], GRADIENT_LENGTHS.at(-1)];
  const growth = (best.get(last) ?? NaN) / (best.get(first) ?? NaN);
  console.log(`${last} calls take ${growth.toFixed(1)} times what ${first} take`);
}

function fileOf(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}${name}/model.onnx`).find((file) => existsSync(file));
}

interface Measured {
  /** Wall milliseconds in order; the first includes what the engine compiles. */
  readonly times: readonly number[];
  readonly cpu: readonly number[];
  readonly executable: Executable;
  readonly isStable: boolean;
}

function measure(work: () => Executable): Measured {
  const times: number[] = [];
  const cpu: number[] = [];
  let executable: Executable | undefined;
  let isStable = true;
  let reference: Uint8Array | undefined;
  for (let i = 0; i < REPEATS; i++) {
    const before = process.cpuUsage();
    const start = performance.now();
    executable = work();
    times.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
    const bytes = executable.toBytes();
    reference ??= bytes;
    isStable &&= Buffer.compare(bytes, reference) === 0;
  }
  if (executable === undefined) throw new Error('internal: nothing was measured');
  return { times, cpu, executable, isStable };
}

/** Calls of kernels in the listing of all functions. */
function countKernelCalls(executable: Executable): number {
  const names = new Set(executable.primitives.map(({ name }) => name));
  const calls = executable.toText().matchAll(/ call ([^\s(]+)\(/g);
  return [...calls].filter(([, name = '']) => names.has(name)).length;
}

function row(cells: readonly (string | number)[]): string {
  const [name = '', ...rest] = cells.map(String);
  return name.padEnd(20) + rest.map((cell) => cell.padStart(12)).join('');
}
