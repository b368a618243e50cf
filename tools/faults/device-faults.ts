import { Session } from '../../src/client/index.ts';
import { FaultyGpu, type GpuOperation, type Injection } from '../../src/testing/faulty-gpu.ts';
import type { Life, LifePlace } from './life.ts';
import { checkRun, expectedOf, type LifeOptions, SessionLife } from './session-life.ts';
import { smallModel } from './small-model.ts';
import { expectedText, TextLife } from './text-life.ts';
import { expectedWeights, TrainingLife } from './training-life.ts';

/** Far more than any operation is called in one life. */
const MOST_FAULTS = 1000;

type OpenLife = (place: LifePlace) => Life;

/** How the lives of each kind begin, once their right results are known. */
export const LIVES = {
  session: () => sessionLife(false),
  'branching session': () => sessionLife(true),
  text: async (): Promise<OpenLife> => {
    const text = await expectedText();
    return (place) => new TextLife(place, text);
  },
  training: async (): Promise<OpenLife> => {
    const weights = await expectedWeights();
    return (place) => new TrainingLife(place, weights);
  },
};

export type LifeKind = keyof typeof LIVES;

export const LIFE_KINDS = Object.keys(LIVES) as LifeKind[];

async function sessionLife(isBranching: boolean): Promise<OpenLife> {
  const file = smallModel(isBranching);
  const expected = await expectedOf(file);
  return (load) => new SessionLife({ file, expected, load });
}

export interface FaultReport {
  /** How many places there were, one after the other, for the fault. */
  readonly faults: number;
  /** In how many of them a step failed, with a typed error. */
  readonly failed: number;
  /** Broken promises. */
  readonly problems: readonly string[];
}

interface FaultCase {
  readonly operation: GpuOperation;
  readonly mode: Injection['mode'];
  readonly life: LifeKind;
  /** Another session of the device went before, so that caches are filled; else all is the first. */
  readonly isBeside: boolean;
  /** Takes one of so many places. Default: each. */
  readonly stride?: number;
}

/** Lets every call of an operation go wrong, one in each life, until a life has none left. */
export async function injectEverywhere(
  real: GPU,
  { life, isBeside, stride = 1, ...fault }: FaultCase,
): Promise<FaultReport> {
  const file = smallModel(false);
  const expected = await expectedOf(file);
  const openLife = await LIVES[life]();
  const open = (): Place => placeOf(real, { file, expected, openLife });
  const problems: string[] = [];
  const record = (problem: string | undefined): void => {
    if (problem !== undefined) problems.push(problem);
  };
  let failed = 0;
  let faults = 0;
  let filled: FilledPlace | undefined;
  for (let at = 1; at <= MOST_FAULTS; at += stride) {
    const injection = { ...fault, at };
    if (isBeside) filled ??= await fill(open());
    const live =
      filled === undefined ? liveAlone(open(), injection) : liveBeside(filled, injection);
    const { problem, failures, hasStruck } = await live;
    record(problem && `${fault.operation} ${at}, ${fault.mode}: ${problem}`);
    if (!hasStruck) break;
    faults++;
    if (failures.length > 0) failed++;
    // A device that is lost, or in doubt, is no place for the next one.
    if (filled === undefined || (fault.mode === 'refuse' && problem === undefined)) continue;
    record(await close(filled));
    filled = undefined;
  }
  if (filled !== undefined) record(await close(filled));
  return { faults, failed, problems };
}

interface LifeReport {
  readonly hasStruck: boolean;
  readonly failures: readonly string[];
  readonly problem: string | undefined;
}

/** A device that may be told to fail, what lives on it, and a session beside that. */
interface Place {
  readonly faulty: FaultyGpu;
  readonly options: LifeOptions;
  readonly open: () => Life;
}

/** Where another session lives, and a third one ended: caches are filled. */
interface FilledPlace extends Place {
  readonly other: Session;
  readonly before: Live;
}

const NOTHING: Live = { buffers: 0, bytes: 0, devices: 0 };

function placeOf(
  real: GPU,
  { openLife, ...given }: Omit<LifeOptions, 'load'> & { readonly openLife: OpenLife },
): Place {
  const faulty = new FaultyGpu(real);
  const load = { worker: false, device: 'webgpu', gpu: faulty.gpu } as const;
  return { faulty, options: { ...given, load }, open: () => openLife(load) };
}

async function fill(place: Place): Promise<FilledPlace> {
  const { file, expected, load } = place.options;
  const other = await Session.load(file, load);
  await checkRun(other, expected);
  await place.open().live();
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
async function liveAlone({ faulty, open }: Place, injection: Injection): Promise<LifeReport> {
  faulty.arm(injection);
  const life = open();
  const problem = await problemOf(async () => {
    await life.live();
    return leakOf(NOTHING, faulty.live());
  });
  return { problem, failures: life.failures, hasStruck: faulty.hasStruck };
}

/** Beside another session of the same device, which has to be right in the end. */
async function liveBeside(
  { faulty, options, open, other, before }: FilledPlace,
  injection: Injection,
): Promise<LifeReport> {
  faulty.arm(injection);
  const life = open();
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
