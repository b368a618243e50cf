import { type LoadOptions, Session, Tensor } from '../../src/client/index.ts';
import { DeviceLostError, WeftError } from '../../src/core/errors.ts';
import { HostTensor } from '../../src/core/host-tensor.ts';
import { firstDifference } from '../../src/core/all-close.ts';
import { FEATURES } from './small-model.ts';

const ROWS = 5;
/** Repeated runs are recorded, then replayed. */
const RUNS = 3;
/** In the middle of either model, when the device has work. */
const PLACE = { function: 'main', instruction: 10 };
const STEP_TIMEOUT_MS = 30_000;

export interface LifeOptions {
  readonly load: LoadOptions;
  readonly file: Uint8Array<ArrayBuffer>;
  readonly expected: HostTensor;
}

export function sampleInput(): Tensor {
  const data = Float32Array.from({ length: ROWS * FEATURES }, (_, i) => Math.sin(i));
  return new Tensor('float32', data, [ROWS, FEATURES]);
}

/** Results of the file on the host. */
export async function expectedOf(file: Uint8Array<ArrayBuffer>): Promise<HostTensor> {
  const session = await Session.load(file, { worker: false, device: 'host' });
  const { y } = await session.run({ x: sampleInput() });
  await session.dispose();
  if (y === undefined) throw new Error('internal: no result');
  return new HostTensor(y.dtype, y.shape, y.data);
}

/**
 * Loads, runs, warms up, profiles, takes a snapshot, resumes it and disposes of everything. A step may fail once, with a
 * typed error; done again it has to be right. What a lost device held is loaded again.
 */
export class SessionLife {
  /** The messages with which steps failed. */
  readonly failures: string[] = [];
  readonly #options: LifeOptions;
  #session: Session | undefined;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  async live(): Promise<void> {
    await this.#step('load', () => this.#load());
    for (let run = 0; run < RUNS; run++) await this.#step('run', () => this.#run());
    await this.#step('warmup', () => this.#live().warmup({ n: 3 }));
    await this.#step('profile', () => this.#profile());
    let snapshot = new Uint8Array();
    await this.#step('snapshot', async () => {
      snapshot = await this.#snapshot();
    });
    await this.#step('run after the snapshot', () => this.#run());
    await this.#step('resume', () => this.#resume(snapshot));
    await this.#session?.dispose();
  }

  async #step(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await within(name, work());
      return;
    } catch (error) {
      this.failures.push(`${name}: ${typedMessage(error, name)}`);
      if (error instanceof DeviceLostError && this.#session !== undefined) {
        await this.#session.dispose();
        await within(`${name}, load again`, this.#load());
      }
    }
    await within(`${name} again`, work());
  }

  async #load(): Promise<void> {
    const { file, load } = this.#options;
    this.#session = await Session.load(file, load);
  }

  #live(): Session {
    if (this.#session === undefined) throw new Error('internal: no session');
    return this.#session;
  }

  async #run(): Promise<void> {
    await checkRun(this.#live(), this.#options.expected);
  }

  async #profile(): Promise<void> {
    const { outputs } = await this.#live().profile({ x: sampleInput() });
    check(outputs['y'], this.#options.expected);
  }

  async #snapshot(): Promise<Uint8Array<ArrayBuffer>> {
    const session = this.#live();
    const paused = session.pause({ at: PLACE });
    paused.catch(() => undefined);
    const run = session.run({ x: sampleInput() });
    try {
      const early = run.then(() => Promise.reject(new Error('the run was not held')));
      await Promise.race([paused, early]);
      const bytes = await session.snapshot();
      await session.continue();
      check((await run)['y'], this.#options.expected);
      return bytes;
    } catch (error) {
      await session.continue().catch(() => undefined);
      await run.catch(() => undefined);
      throw error;
    }
  }

  async #resume(snapshot: Uint8Array<ArrayBuffer>): Promise<void> {
    const { file, expected, load } = this.#options;
    const session = await Session.resume(snapshot, { executable: file, ...load });
    try {
      const outputs = await session.resumed.runs[0]?.result();
      check(outputs?.['y'], expected);
      await checkRun(session, expected);
    } finally {
      await session.dispose();
    }
  }
}

export async function checkRun(session: Session, expected: HostTensor): Promise<void> {
  check((await session.run({ x: sampleInput() }))['y'], expected);
}

function check(y: Tensor | undefined, expected: HostTensor): void {
  if (y === undefined) throw new Error('no result');
  const actual = new HostTensor(y.dtype, y.shape, y.data);
  const difference = firstDifference(actual, expected, { rtol: 1e-4, atol: 1e-5 });
  if (difference !== undefined) throw new Error(`a wrong result: ${difference}`);
}

async function within<T>(name: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} never ended`)), STEP_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The message of an error of Weft's own; any other is thrown on. */
function typedMessage(error: unknown, step: string): string {
  if (error instanceof WeftError) return error.message;
  throw new Error(`${step}: an error without a type`, { cause: error });
}
