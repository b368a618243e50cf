import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type Inputs, type Session, type SessionComparison, Tensor } from '../client/index.ts';
import type { ExpectedValues } from '../client/tools/compare-values.ts';
import { randomInputs } from '../client/values/random-inputs.ts';
import { UsageError } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { shortList } from '../core/short-list.ts';
import { checkInputs } from './check-inputs.ts';
import { readNpz } from './files/npz.ts';
import { type OpenFlags, openSession, readInputs } from './open-session.ts';
import { readBytes } from './files/read-file.ts';
import { writeJson } from './report.ts';
import { readTensor } from './files/tensor-file.ts';
import type { Terminal } from './terminal.ts';

export interface CheckFlags extends OpenFlags {
  readonly input?: Record<string, string>;
  /** Runs the model, for `weft check`, which otherwise runs nothing. */
  readonly verify?: boolean;
  readonly tolerance?: number;
  readonly seed: number;
  readonly json?: boolean;
}

export interface CompareFlags extends CheckFlags {
  readonly against: 'host' | 'wasm';
}

/** `weft check --verify`: runs `main` beside the same in float32; 1 where a value departs. */
export const checkCommand = (
  path: string,
  flags: CheckFlags,
  terminal: Terminal,
): Promise<number> => {
  const { tolerance } = flags;
  return runBeside(path, flags, {
    terminal,
    command: 'check',
    other: 'float32',
    compare: (session, inputs) => session.verify(inputs, { tolerance, function: flags.function }),
  });
};

/**
 * `weft compare`: runs `main` beside the same on another device, beside another file of the same source, or against values
 * that a file holds; 1 where a value departs.
 */
export async function compareCommand(
  path: string,
  second: string | undefined,
  flags: CompareFlags,
  terminal: Terminal,
): Promise<number> {
  const { against, tolerance } = flags;
  const options = { tolerance, function: flags.function };
  if (second === undefined) {
    return runBeside(path, flags, {
      terminal,
      command: 'compare',
      other: against,
      compare: (session, inputs) => session.compare(inputs, { against, ...options }),
    });
  }
  if (await holdsValues(second)) {
    const values = await readValues(second);
    return runBeside(path, flags, {
      terminal,
      command: 'compare',
      other: second,
      compare: (session, inputs) => session.compare(inputs, { against: values, ...options }),
    });
  }
  const { session: other, close } = await openSession(second, flags, terminal);
  try {
    return await runBeside(path, flags, {
      terminal,
      command: 'compare',
      other: second,
      compare: (session, inputs) => session.compare(inputs, { against: other, ...options }),
    });
  } finally {
    await close();
  }
}

interface Beside {
  readonly terminal: Terminal;
  readonly command: 'check' | 'compare';
  /** Names what a run is compared with. */
  readonly other: string;
  readonly compare: (session: Session, inputs: Inputs) => Promise<SessionComparison>;
}

async function runBeside(
  path: string,
  flags: CheckFlags,
  { terminal, command, other, compare }: Beside,
): Promise<number> {
  await checkInputs(path, flags.input ?? {}, flags);
  const { session, close } = await openSession(path, flags, terminal);
  try {
    const given = await readInputs(session, flags.input ?? {}, flags.function);
    const found = await compare(session, { ...inputsFor(session, flags), ...given });
    if (flags.json === true)
      writeJson(terminal, command, { device: session.device.name, against: other, ...found });
    else terminal.out(describe(found, session, other));
    return found.departure === undefined ? 0 : 1;
  } finally {
    await close();
  }
}

/** Random ones, the same for a seed, for what no file is given for. */
function inputsFor(
  session: Session,
  { input = {}, dim = {}, seed, function: name = 'main' }: CheckFlags,
) {
  // Types of the inputs of other functions are not known here.
  if (name !== 'main') return {};
  const others = session.inputs.filter(({ name }) => !Object.hasOwn(input, name));
  return randomInputs(others, new Map(Object.entries(dim)), seededRandom(seed));
}

function describe(
  { departure, calls, largestError, missing = [] }: SessionComparison,
  { device }: Session,
  other: string,
): string {
  const isByName = other !== 'float32' && other !== 'host' && other !== 'wasm';
  const left =
    missing.length === 0
      ? ''
      : `  not compared, since this program has no such value: ${shortList(missing)}\n`;
  if (departure === undefined) {
    const compared = isByName ? `${calls} values` : `${calls} calls of kernels`;
    return `${compared} on ${device.name} agree with ${other}; the largest error is ${percent(largestError)}\n${left}`;
  }
  const { kernel, sources, at, dtype, shape, got, expected, element, nans, infinities } = departure;
  const place = at === undefined ? '' : ` (${at.function}, instruction ${at.instruction})`;
  const strange = [
    ...(infinities > 0 ? [`${infinities} infinite`] : []),
    ...(nans > 0 ? [`${nans} no number`] : []),
  ].join(', ');
  const inOther = other === 'float32' ? 'in float32' : isByName ? 'expected' : `on ${other}`;
  const { unfused, value } = departure;
  const lines = [
    `${value === undefined ? '' : `value "${value}" of `}${sources.join(', ') || kernel}: ${dtype} [${shape.join(', ')}] departs from ${other} by ${percent(departure.relativeError)} of its range`,
    `  kernel ${kernel}${place}`,
    `  element ${element} is ${got}, ${inOther} ${expected}${strange && `; ${strange}`}`,
    ...(unfused === undefined
      ? []
      : [
          `  without fusion the first to depart is ${unfused.source ?? 'operator'} ${unfused.operator}, by ${percent(unfused.relativeError)}`,
        ]),
    `  ${departureCount(departure)} on ${device.name} agreed`,
  ];
  return `${lines.join('\n')}\n${left}`;
}

const departureCount = ({ call }: { readonly call: number }): string =>
  call === 1 ? '1 call before it' : `${call} calls before it`;

const percent = (share: number): string =>
  Number.isFinite(share) ? `${(100 * share).toPrecision(2)}%` : 'more than all';

/** Resolves to true if a path is a file or folder of values by name; any other is a program. */
async function holdsValues(path: string): Promise<boolean> {
  return extname(path).toLowerCase() === '.npz' || (await isFolder(path));
}

/**
 * Values by their names: a `.npz` file, or a folder of `.npy`, `.pb` and `.json` files, whose names are those of the values; in
 * them a `/` of a name may be written `%2F`. Throws UsageError and FormatError.
 */
async function readValues(path: string): Promise<ExpectedValues> {
  if (!(await isFolder(path))) {
    const tensors = readNpz(await readBytes(path), path);
    return Object.fromEntries(
      Array.from(tensors, ([name, { dtype, data, shape }]) => [
        name,
        new Tensor(dtype, data, shape),
      ]),
    );
  }
  const files = (await readdir(path)).filter((name) => /\.(npy|pb|json)$/i.test(name)).sort();
  if (files.length === 0) {
    throw new UsageError({
      where: path,
      got: 'a folder without .npy, .pb or .json files',
      expected: 'a file for each value, called by its name',
    });
  }
  const values = files.map(async (file) => {
    const tensor = await readTensor(join(path, file), undefined);
    return [basename(file, extname(file)).replaceAll(/%2F/gi, '/'), tensor] as const;
  });
  return Object.fromEntries(await Promise.all(values));
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
