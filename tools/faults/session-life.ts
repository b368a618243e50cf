import { type LoadOptions, Session, Tensor } from '../../src/client/index.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { firstDifference } from '../../src/core/tensor/all-close.ts';
import { Life } from './life.ts';
import { FEATURES } from './small-model.ts';

const ROWS = 5;
/** Repeated runs are recorded, then replayed. */
const RUNS = 3;
/** In the middle of either model, when the device has work. */
const PLACE = { function: 'main', instruction: 10 };

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

/** Runs a session, warms it up, profiles it, takes a snapshot and resumes it. */
export class SessionLife extends Life<Session> {
  readonly #options: LifeOptions;

  constructor(options: LifeOptions) {
    super();
    this.#options = options;
  }

  protected load(): Promise<Session> {
    const { file, load } = this.#options;
    return Session.load(file, load);
  }

  protected async steps(): Promise<void> {
    for (let run = 0; run < RUNS; run++) await this.step('run', () => this.run());
    await this.step('warmup', () => this.loaded.warmup({ n: 3 }));
    await this.step('profile', () => this.#profile());
    const snapshot = await this.step('snapshot', () =>
      snapshotOf(this.loaded, this.#options.expected),
    );
    await this.step('run after the snapshot', () => this.run());
    await this.step('resume', () => this.#resume(snapshot));
  }

  protected async run(): Promise<void> {
    await checkRun(this.loaded, this.#options.expected);
  }

  async #profile(): Promise<void> {
    const { outputs } = await this.loaded.profile({ x: sampleInput() });
    check(outputs['y'], this.#options.expected);
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

/** A snapshot in the middle of a run, which then goes on to its end. */
export async function snapshotOf(
  session: Session,
  expected: HostTensor,
): Promise<Uint8Array<ArrayBuffer>> {
  const paused = session.pause({ at: PLACE });
  paused.catch(() => undefined);
  const run = session.run({ x: sampleInput() });
  try {
    const early = run.then(() => Promise.reject(new Error('the run was not held')));
    await Promise.race([paused, early]);
    const bytes = await session.snapshot();
    await session.continue();
    check((await run)['y'], expected);
    return bytes;
  } catch (error) {
    await session.continue().catch(() => undefined);
    await run.catch(() => undefined);
    throw error;
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
