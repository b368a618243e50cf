import { DeviceLostError } from '../../../core/errors.ts';
import type {
  CreateDistributor,
  DistributableStep,
  RunStep,
  StepDistributor,
  LaunchOrder,
} from '../step-distributor.ts';
import type { WasmMemory } from '../memory/wasm-memory.ts';
import { DistributedStep, PartWorkers } from './distributed-step.ts';
import type { StartPart } from './part-protocol.ts';
import { StepTrial, TrialTurns } from './step-trial.ts';

/** Something to do: over when it returns, or when what it returns resolves. */
type Task = () => Promise<void> | undefined;

/** Tasks in order. They are done at once unless an earlier one is not over. */
export class LaunchQueue implements Omit<LaunchOrder, 'view'> {
  isPaused = false;
  readonly #tasks: Task[] = [];
  #next = 0;
  #isBusy = false;
  /** Functions that reject the promises of those who wait for a result. */
  readonly #rejecters = new Set<(error: unknown) => void>();
  /** The first since somebody asked. */
  #failure: { readonly error: unknown } | undefined;
  #disposed: Error | undefined;

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  readonly isDisposed = (): boolean => this.#disposed !== undefined;

  submit(task: () => void): void {
    if (!this.#isBusy) task();
    else
      this.#add(() => {
        task();
        return undefined;
      });
  }

  /** Submits what may not be over when it returns. */
  submitLong(task: Task): void {
    if (this.#isBusy) {
      this.#add(task);
      return;
    }
    const rest = task();
    if (rest === undefined) return;
    this.#isBusy = true;
    void this.#perform(rest);
  }

  finish<T>(task: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#disposed !== undefined) throw this.#disposed;
      this.#rejecters.add(reject);
      this.submit(() => {
        this.#rejecters.delete(reject);
        const failure = this.#failure;
        this.#failure = undefined;
        if (failure !== undefined) reject(failure.error);
        else resolve(task());
      });
    });
  }

  async settle(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.submit(resolve));
  }

  /** Drops all tasks that have not begun; whoever waits for a result gets the error. */
  dispose(error: Error): void {
    this.#disposed ??= error;
    this.#tasks.length = 0;
    for (const reject of this.#rejecters) reject(error);
    this.#rejecters.clear();
  }

  #add(task: Task): void {
    if (this.#disposed === undefined) this.#tasks.push(task);
  }

  /** All tasks behind one that is not over. */
  async #perform(first: Promise<void>): Promise<void> {
    let rest: Promise<void> | undefined = first;
    while (rest !== undefined) {
      try {
        await rest;
      } catch (error) {
        this.#failure ??= { error };
      }
      rest = this.#performMore();
    }
    this.#isBusy = false;
  }

  /** Tasks up to one that is not over, which is returned. */
  #performMore(): Promise<void> | undefined {
    while (this.#next < this.#tasks.length) {
      try {
        const rest = this.#tasks[this.#next++]?.();
        if (rest !== undefined) return rest;
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    this.#tasks.length = 0;
    this.#next = 0;
    return undefined;
  }
}

export interface DistributorOptions {
  /** Threads in all, the one of the device included. */
  readonly threads: number;
  readonly startPart: StartPart;
  /**
   * Shares every step that can be shared, from the first run on. Default: where that saves time.
   */
  readonly sharesAll?: boolean | undefined;
  /** Milliseconds in which threads have to do their parts. Default 20,000. */
  readonly patienceMs?: number | undefined;
  /** Bytes of constants that each thread keeps. Default: 1 GiB. */
  readonly keptByteBudget?: number | undefined;
}

const PATIENCE_MS = 20_000;
const KEPT_BYTE_BUDGET = 2 ** 30;

/** Milliseconds to copy a byte into a message and out of it again, on fast machines. */
const MS_PER_BYTE = 1e-7;

/** Messages take longer than less work. */
const LEAST_DISTRIBUTED_WORK = 2 ** 22;

/** How a device shares work with threads that have memories of their own. */
export const distributorOf =
  (options: DistributorOptions): CreateDistributor =>
  (memory) =>
    new Distributor(memory, options);

class Distributor extends LaunchQueue implements StepDistributor {
  readonly #memory: WasmMemory;
  readonly #workers: PartWorkers;
  readonly #sharesAll: boolean;
  readonly #turns = new TrialTurns();

  constructor(memory: WasmMemory, options: DistributorOptions) {
    super();
    const { patienceMs = PATIENCE_MS, keptByteBudget = KEPT_BYTE_BUDGET } = options;
    this.#memory = memory;
    this.#sharesAll = options.sharesAll ?? false;
    this.#workers = new PartWorkers(options.threads - 1, {
      startPart: options.startPart,
      patienceMs,
      keptByteBudget,
      submit: (task) => this.submit(task),
    });
  }

  get threadCount(): number {
    return this.#workers.count + 1;
  }

  view(address: number, byteLength: number): Uint8Array {
    return this.#memory.view(address, byteLength);
  }

  distribute(step: DistributableStep): RunStep | undefined {
    const { units, work } = step.plan;
    if (units < 2 || (!this.#sharesAll && work < LEAST_DISTRIBUTED_WORK)) return undefined;
    this.#workers.start();
    const distributed = new DistributedStep(step, {
      memory: this.#memory,
      workers: this.#workers,
      isDisposed: this.isDisposed,
      trial: this.#sharesAll ? undefined : this.#trialOf(step),
    });
    return (args, constants) => {
      if (this.isPaused) this.submit(() => step.code.run(...args));
      else this.submitLong(() => distributed.run({ args, constants }));
    };
  }

  async ready(): Promise<void> {
    if (!this.#sharesAll) return;
    this.#workers.start();
    await this.#workers.ready();
  }

  #trialOf({ plan: { access } }: DistributableStep): StepTrial {
    const workers = this.#workers;
    const others = workers.count;
    const { byteLength = 0 } = access.values[access.output] ?? {};
    const resultMs = (MS_PER_BYTE * byteLength * others) / (others + 1);
    const messagesMs = (): number => workers.messagesMs + resultMs;
    return new StepTrial({ others, messagesMs, turns: this.#turns });
  }

  override dispose(): void {
    super.dispose(
      new DeviceLostError({
        where: 'wasm device',
        got: 'a call that was not over when the device was destroyed by its owner',
        expected: 'a live device',
      }),
    );
    this.#workers.dispose();
  }
}
