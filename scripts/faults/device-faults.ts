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
  { isBranching, ...fault }: FaultCase,
): Promise<FaultReport> {
  const file = smallModel(isBranching);
  const expected = await expectedOf(file);
  const problems: string[] = [];
  let failed = 0;
  let faults = 0;
  for (let at = 1; at <= MOST_FAULTS; at++) {
    const faulty = new FaultyGpu(real);
    const load = { worker: false, device: 'webgpu', gpu: faulty.gpu } as const;
    const options = { file, expected, load };
    const live = fault.isBeside ? liveBeside : liveAlone;
    const { problem, failures, hasStruck } = await live(faulty, { ...fault, at }, options);
    if (problem !== undefined) {
      problems.push(`${fault.operation} ${at}, ${fault.mode}: ${problem}`);
    }
    if (!hasStruck) break;
    faults++;
    if (failures.length > 0) failed++;
  }
  return { faults, failed, problems };
}

interface LifeReport {
  readonly hasStruck: boolean;
  readonly failures: readonly string[];
  readonly problem: string | undefined;
}

const NOTHING: Live = { buffers: 0, bytes: 0, devices: 0 };

/** The first session of its device. */
async function liveAlone(
  faulty: FaultyGpu,
  injection: Injection,
  options: LifeOptions,
): Promise<LifeReport> {
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
  faulty: FaultyGpu,
  injection: Injection,
  options: LifeOptions,
): Promise<LifeReport> {
  const { file, expected, load } = options;
  const other = await Session.load(file, load);
  await checkRun(other, expected);
  await new SessionLife(options).live();
  const before = faulty.live();
  faulty.arm(injection);
  const life = new SessionLife(options);
  let hasStruck = false;
  const problem = await problemOf(async () => {
    await life.live();
    hasStruck = faulty.hasStruck;
    faulty.disarm();
    // The other session learns what the loss of the device took, too.
    const isLost = hasStruck && injection.mode === 'lose';
    if (!isLost) await checkRun(other, expected);
    const left = isLost ? undefined : leakOf(before, faulty.live());
    await other.dispose();
    return left ?? leakOf(NOTHING, faulty.live());
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
