import { type LoadOptions, Session, Tensor } from '../../src/client/index.ts';

/** The outcome of a call, and its duration. */
interface Outcome {
  readonly value?: unknown;
  readonly error?: string;
  readonly ms: number;
}

/** Observations around an endless kernel. */
export interface EndlessFindings {
  /** Of the innocent session, before. */
  readonly before: Outcome;
  /** Of the endless kernel. */
  readonly run: Outcome;
  /** Of another one that was aborted; from then on. */
  readonly abortedRun: Outcome;
  /** Of the innocent session, on the device that is stuck. */
  readonly waited: Outcome;
  /** From the begin of the endless kernel until all of them were rejected. */
  readonly lostMs: number;
  readonly disposal: Outcome;
  /** Of a session on WebGPU that is loaded then, and of one on any device. */
  readonly next: Outcome;
  readonly auto: Outcome;
  /** Of a session with an endless kernel that is disposed of before anybody knows, in the end. */
  readonly earlyDisposal: Outcome;
}

interface EndlessPrograms {
  readonly endless: Uint8Array<ArrayBuffer>;
  /** Doubles its input, with a kernel that ends. */
  readonly innocent: Uint8Array<ArrayBuffer>;
}

/** How long the endless kernel runs before somebody gives up on it. */
const WAIT_MS = 300;

/** Runs an endless kernel beside an innocent session on the same device, and loads others then. */
export async function findEndless(
  programs: EndlessPrograms,
  options: LoadOptions,
): Promise<EndlessFindings> {
  const onDevice = { ...options, device: 'webgpu' } as const;
  const innocent = await Session.load(programs.innocent, onDevice);
  const endless = await Session.load(programs.endless, onDevice);
  const before = await outcomeOf(() => values(innocent));
  const begin = performance.now();
  const stop = new AbortController();
  let abortedAt = begin;
  const running = outcomeOf(() => values(endless));
  const aborted = outcomeOf(
    () => values(endless, stop.signal),
    () => abortedAt,
  );
  const waiting = outcomeOf(() => values(innocent));
  await wait(WAIT_MS);
  abortedAt = performance.now();
  stop.abort(new Error('enough'));
  const [run, abortedRun, waited] = await Promise.all([running, aborted, waiting]);
  const lostMs = performance.now() - begin;
  const disposal = await outcomeOf(() => Promise.all([endless.dispose(), innocent.dispose()]));
  const next = await outcomeOf(() => doubled(programs, onDevice));
  const auto = await outcomeOf(() => doubled(programs, { ...options, device: 'auto' }));
  const earlyDisposal = await disposedEarly(programs, options);
  return { before, run, abortedRun, waited, lostMs, disposal, next, auto, earlyDisposal };
}

/** On the host where there is no device that works any more. */
async function disposedEarly(
  { endless, innocent }: EndlessPrograms,
  options: LoadOptions,
): Promise<Outcome> {
  const session = await Session.load(endless, { ...options, device: 'webgpu' }).catch(() =>
    Session.load(innocent, { ...options, device: 'host' }),
  );
  const running = outcomeOf(() => values(session));
  await wait(WAIT_MS);
  const disposal = await outcomeOf(() => session.dispose());
  await running;
  return disposal;
}

/** The kind of device of a new session, why it is no other, and its results. */
async function doubled({ innocent }: EndlessPrograms, options: LoadOptions): Promise<unknown[]> {
  const session = await Session.load(innocent, options);
  const { kind, fallbackReason = null } = session.device;
  const results = await values(session);
  await session.dispose();
  return [kind, fallbackReason, ...results];
}

async function values(session: Session, signal?: AbortSignal): Promise<number[]> {
  const x = new Tensor('float32', Float32Array.of(1, 2, 3, 4), [4]);
  const [output] = Object.values(await session.run({ x }, { signal }));
  if (!(output?.data instanceof Float32Array)) throw new Error('internal: no result');
  return [...output.data];
}

async function outcomeOf(
  work: () => Promise<unknown>,
  begin: () => number = constant(performance.now()),
): Promise<Outcome> {
  try {
    const value = (await work()) ?? null;
    return { value, ms: performance.now() - begin() };
  } catch (error) {
    return { error: String(error), ms: performance.now() - begin() };
  }
}

const constant = (value: number) => () => value;
const wait = (ms: number) => new Promise<void>((wake) => setTimeout(wake, ms));
