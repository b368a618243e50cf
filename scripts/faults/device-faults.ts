import { Session } from '../../src/client/index.ts';
import { FaultyGpu, type GpuOperation, type Injection } from '../../src/testing/faulty-gpu.ts';
import { checkRun, expectedOf, type LifeOptions, SessionLife } from './session-life.ts';
import { smallModel } from './small-model.ts';

/** Far more than any operation is called in one life. */
const MOST_FAULTS = 1000;

export interface FaultReport {
  /** How many places there were, one after the other, for the fault. */
  readonly faults: number;
  /** In how many of them a step failed, with a typed error. */
  readonly failed: number;
  /** Broken promises. */
  readonly problems: readonly string[];
}

export interface FaultCase {
  readonly operation: GpuOperation;
  readonly mode: Injection['mode'];
  readonly isBranching: boolean;
  /** Another session of the device went before, so that caches are filled; else all is the first. */
  readonly isBeside: boolean;
}

/** Lets every call of an operation go wrong, one in each life of a session, until a life has none left. */
export async function injectEverywhere(
  real: GPU,
  { isBranching, isBeside, ...fault }: FaultCase,
): Promise<FaultReport> {
  const file = smallModel(isBranching);
  const expected = await expectedOf(file);
  const open = (): Place => placeOf(real, { file, expected });
  const problems: string[] = [];
  const note = (problem: string | undefined): void => {
    if (problem !== undefined) problems.push(problem);
  };
  let failed = 0;
  let faults = 0;
  let filled: FilledPlace | undefined;
  for (let at = 1; at <= MOST_FAULTS; at++) {
    const injection = { ...fault, at };
    if (isBeside) filled ??= await fill(open());
    const live =
      filled === undefined ? liveAlone(open(), injection) : liveBeside(filled, injection);
    const { problem, failures, hasStruck } = await live;
    note(problem && `${fault.operation} ${at}, ${fault.mode}: ${problem}`);
    if (!hasStruck) break;
    faults++;
    if (failures.length > 0) failed++;
    // A device that is lost, or in doubt, is no place for the next one.
    if (filled === undefined || (fault.mode === 'refuse' && problem === undefined)) continue;
    note(await close(filled));
    filled = undefined;
  }
  if (filled !== undefined) note(await close(filled));
  return { faults, failed, problems };
}

interface LifeReport {
  readonly hasStruck: boolean;
  readonly failures: readonly string[];
  readonly problem: string | undefined;
}

/** A device that may be told to fail, and what a session needs to live on it. */
interface Place {
  readonly faulty: FaultyGpu;
  readonly options: LifeOptions;
}

/** Where another session lives, and a third one ended: caches are filled. */
interface FilledPlace extends Place {
  readonly other: Session;
  readonly before: Live;
}

const NOTHING: Live = { buffers: 0, bytes: 0, devices: 0 };

function placeOf(real: GPU, given: Omit<LifeOptions, 'load'>): Place {
  const faulty = new FaultyGpu(real);
  const load = { worker: false, device: 'webgpu', gpu: faulty.gpu } as const;
  return { faulty, options: { ...given, load } };
}

async function fill(place: Place): Promise<FilledPlace> {
  const { file, expected, load } = place.options;
  const other = await Session.load(file, load);
  await checkRun(other, expected);
  await new SessionLife(place.options).live();
  return { ...place, other, before: place.faulty.live() };
}

/** Ends the other session; the problem, if it leaves something. */
function close({ faulty, other }: FilledPlace): Promise<string | undefined> {
  return problemOf(async () => {
    await other.dispose();
    return leakOf(NOTHING, faulty.live());
  });
}

/** The first session of its device. */
async function liveAlone({ faulty, options }: Place, injection: Injection): Promise<LifeReport> {
  faulty.arm(injection);
  const life = new SessionLife(options);
  const problem = await problemOf(async () => {
    await life.live();
    return leakOf(NOTHING, faulty.live());
  });
  return { problem, failures: life.failures, hasStruck: faulty.hasStruck };
}

/** Beside another session of the same device, which has to be right in the end. */
async function liveBeside(
  { faulty, options, other, before }: FilledPlace,
  injection: Injection,
): Promise<LifeReport> {
  faulty.arm(injection);
  const life = new SessionLife(options);
  let hasStruck = false;
  const problem = await problemOf(async () => {
    await life.live();
    hasStruck = faulty.hasStruck;
    faulty.disarm();
    // The other session learns what the loss of the device took, too.
    if (hasStruck && injection.mode === 'lose') return undefined;
    await checkRun(other, options.expected);
    return leakOf(before, faulty.live());
  });
  return { problem, failures: life.failures, hasStruck };
}

async function problemOf(check: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    return describe(error);
  }
}

type Live = ReturnType<FaultyGpu['live']>;

function leakOf(before: Live, after: Live): string | undefined {
  const isSame = before.bytes === after.bytes && before.devices === after.devices;
  return isSame ? undefined : `left ${JSON.stringify(after)}, expected ${JSON.stringify(before)}`;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${describe(error.cause)}`;
  return `${error.name}: ${error.message}${cause}`;
}
