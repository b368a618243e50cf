import type { RunComparison, Session, ValueDeparture } from '../client/index.ts';
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

/** `weft check --verify`: runs `main` beside the same in float32; 1 where a value departs. */
export async function checkCommand(
  path: string,
  flags: CheckFlags,
  terminal: Terminal,
): Promise<number> {
  const session = await openSession(path, flags, terminal);
  try {
    const given = await readInputs(session, flags.input ?? {});
    const inputs = { ...inputsFor(session, flags), ...given };
    const { tolerance } = flags;
    const found = await session.verify(inputs, tolerance === undefined ? {} : { tolerance });
    if (flags.json === true) terminal.out(`${JSON.stringify(found, undefined, 2)}\n`);
    else terminal.out(describe(found, session));
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

function describe({ departure, calls, largestError }: RunComparison, { device }: Session): string {
  if (departure === undefined) {
    return `${calls} calls of kernels on ${device.name} agree with float32; the largest error is ${percent(largestError)}\n`;
  }
  const { kernel, sources, at, dtype, shape, got, expected, element, nans, infinities } = departure;
  const place = at === undefined ? '' : ` (${at.function}, instruction ${at.instruction})`;
  const strange = [
    ...(infinities > 0 ? [`${infinities} infinite`] : []),
    ...(nans > 0 ? [`${nans} no number`] : []),
  ].join(', ');
  const lines = [
    `${sources.join(', ') || kernel}: ${dtype} [${shape.join(', ')}] departs from float32 by ${percent(departure.relativeError)} of its range`,
    `  kernel ${kernel}${place}`,
    `  element ${element} is ${got}, in float32 ${expected}${strange && `; ${strange}`}`,
    `  ${departureCount(departure)} on ${device.name} agreed`,
  ];
  return `${lines.join('\n')}\n`;
}

const departureCount = ({ call }: ValueDeparture): string =>
  call === 1 ? '1 call before it' : `${call} calls before it`;

const percent = (share: number): string =>
  Number.isFinite(share) ? `${(100 * share).toPrecision(2)}%` : 'more than all';
