import type { Inputs, RunComparison, Session, ValueDeparture } from '../client/index.ts';
import { randomInputs } from '../client/random-inputs.ts';
import { seededRandom } from '../core/random.ts';
import { type OpenFlags, openSession, readInputs } from './open-session.ts';
import type { Terminal } from './terminal.ts';

export interface CheckFlags extends OpenFlags {
  readonly input?: Record<string, string>;
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
    other: 'float32',
    compare: (session, inputs) => session.verify(inputs, { tolerance }),
  });
};

/** `weft compare`: runs `main` beside the same on another device; 1 where a value departs. */
export const compareCommand = (
  path: string,
  flags: CompareFlags,
  terminal: Terminal,
): Promise<number> => {
  const { against, tolerance } = flags;
  return runBeside(path, flags, {
    terminal,
    other: against,
    compare: (session, inputs) => session.compare(inputs, { against, tolerance }),
  });
};

interface Beside {
  readonly terminal: Terminal;
  /** Names what a run is compared with. */
  readonly other: string;
  readonly compare: (session: Session, inputs: Inputs) => Promise<RunComparison>;
}

async function runBeside(
  path: string,
  flags: CheckFlags,
  { terminal, other, compare }: Beside,
): Promise<number> {
  const session = await openSession(path, flags, terminal);
  try {
    const given = await readInputs(session, flags.input ?? {});
    const found = await compare(session, { ...inputsFor(session, flags), ...given });
    if (flags.json === true) terminal.out(`${JSON.stringify(found, undefined, 2)}\n`);
    else terminal.out(describe(found, session, other));
    return found.departure === undefined ? 0 : 1;
  } finally {
    await session.dispose();
  }
}

/** Random ones, the same for a seed, for what no file is given for. */
function inputsFor(session: Session, { input = {}, dim = {}, seed }: CheckFlags) {
  const others = session.inputs.filter(({ name }) => !Object.hasOwn(input, name));
  return randomInputs(others, new Map(Object.entries(dim)), seededRandom(seed));
}

function describe(
  { departure, calls, largestError }: RunComparison,
  { device }: Session,
  other: string,
): string {
  if (departure === undefined) {
    return `${calls} calls of kernels on ${device.name} agree with ${other}; the largest error is ${percent(largestError)}\n`;
  }
  const { kernel, sources, at, dtype, shape, got, expected, element, nans, infinities } = departure;
  const place = at === undefined ? '' : ` (${at.function}, instruction ${at.instruction})`;
  const strange = [
    ...(infinities > 0 ? [`${infinities} infinite`] : []),
    ...(nans > 0 ? [`${nans} no number`] : []),
  ].join(', ');
  const inOther = other === 'float32' ? 'in float32' : `on ${other}`;
  const lines = [
    `${sources.join(', ') || kernel}: ${dtype} [${shape.join(', ')}] departs from ${other} by ${percent(departure.relativeError)} of its range`,
    `  kernel ${kernel}${place}`,
    `  element ${element} is ${got}, ${inOther} ${expected}${strange && `; ${strange}`}`,
    `  ${departureCount(departure)} on ${device.name} agreed`,
  ];
  return `${lines.join('\n')}\n`;
}

const departureCount = ({ call }: ValueDeparture): string =>
  call === 1 ? '1 call before it' : `${call} calls before it`;

const percent = (share: number): string =>
  Number.isFinite(share) ? `${(100 * share).toPrecision(2)}%` : 'more than all';
