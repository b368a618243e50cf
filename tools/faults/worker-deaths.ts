import { expose } from 'comlink';
import { configureWorker } from '../../src/client/index.ts';
import { FakeWorker } from '../../src/client/testing/fake-worker.ts';
import { serveReader } from '../../src/frontend/decoders/reader/serve-reader.ts';
import { createService } from '../../src/worker/create-service.ts';
import { type FaultReport, LIVES, type LifeKind } from './device-faults.ts';
import type { LifePlace } from './life.ts';
import { expectedOf, SessionLife } from './session-life.ts';
import { smallModel } from './small-model.ts';

/** `terminate` called by somebody, an event of the browser, and the lock that a dead worker gives back. */
export const DEATHS = ['is terminated', 'fails', 'sends nonsense', 'stops'] as const;
export type Death = (typeof DEATHS)[number];

/** Far more than messages go in one life. */
const MOST_MESSAGES = 5000;

/** Locks as a page has them: who asks for one that a worker holds gets it when the worker stops. */
export class Locks {
  readonly #held = new Set<string>();
  readonly #waiting = new Set<() => unknown>();

  readonly request = async (name: string, got: () => unknown): Promise<void> => {
    if (this.#held.has(name)) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    this.#held.add(name);
    await got();
  };

  giveBack(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

export interface DeathCase {
  readonly life: LifeKind | 'several calls';
  readonly death: Death;
  readonly locks: Locks;
  readonly stride: number;
}

/** Has a worker die at each of its messages, of either side, one in each life, until a life has none left. */
export async function dieEverywhere({
  life,
  death,
  locks,
  stride,
}: DeathCase): Promise<FaultReport> {
  const openLife = life === 'several calls' ? await severalCalls() : await LIVES[life]();
  const problems: string[] = [];
  let [faults, failed] = [0, 0];
  for (let at = 1; at <= MOST_MESSAGES; at += stride) {
    const mortal = mortalWorkers(at, (worker) => die(worker, death, locks));
    const lived = openLife({ worker: mortal.start, device: 'wasm' });
    configureWorker({ worker: mortal.start, idleMs: 0 });
    try {
      await lived.live();
      if (mortal.isLeft()) throw new Error('a worker stayed');
    } catch (error) {
      const { message, cause } = error as Error;
      problems.push(
        `${death} at message ${at}: ${message} ${cause instanceof Error ? cause.message : ''}`,
      );
    }
    mortal.close();
    if (!mortal.hasStruck()) break;
    faults++;
    if (lived.failures.length > 0) failed++;
  }
  return { faults, failed, problems };
}

function die(worker: FakeWorker, death: Death, locks: Locks): void {
  switch (death) {
    case 'is terminated':
      return worker.terminate();
    case 'fails':
      return worker.fail({ message: 'out of memory' });
    case 'sends nonsense':
      worker.dispatchEvent(new MessageEvent('messageerror'));
      return;
    case 'stops':
      return locks.giveBack();
    default:
      return death satisfies never;
  }
}

/** Workers of which one dies at a message, counted over all of them. */
function mortalWorkers(at: number, kill: (worker: FakeWorker) => void) {
  const started: FakeWorker[] = [];
  let count = 0;
  const start = (): Worker => {
    const worker = new FakeWorker((self) => {
      if (++count === at) kill(self);
      return self.terminations === 0;
    });
    started.push(worker);
    expose(Object.assign(createService(), { readText: serveReader() }), worker.inside);
    return worker as unknown as Worker;
  };
  return {
    start,
    hasStruck: () => count >= at,
    isLeft: () => started.some(({ terminations }) => terminations !== 1),
    close: () => {
      for (const { inside } of started) inside.close();
    },
  };
}

async function severalCalls(): Promise<(place: LifePlace) => SessionLife> {
  const file = smallModel(true);
  const expected = await expectedOf(file);
  return (load) => new SeveralCalls({ file, expected, load });
}

/** Calls of all kinds at once: where the worker dies, each of them ends. */
class SeveralCalls extends SessionLife {
  protected override async steps(): Promise<void> {
    for (let round = 0; round < 2; round++) await this.step('several calls', () => this.#calls());
  }

  async #calls(): Promise<void> {
    const session = this.loaded;
    const snapshot = async (): Promise<void> => {
      await session.pause();
      try {
        await session.snapshot();
      } finally {
        await session.continue();
      }
    };
    const ends = await Promise.allSettled([
      this.run(),
      session.memory(),
      session.warmup({ n: 3 }),
      snapshot(),
      session.listing(),
      this.run(),
    ]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}
