import {
  FormatError,
  opfsStore,
  type ResumedState,
  type Session,
  type SnapshotStore,
  UnsupportedError,
  UsageError,
} from '../client/index.ts';
import type { Dish } from './dish.ts';
import { openSession, resumeSession } from './open-session.ts';

const EVERY_MS = 1000;

type Resumed = Session & { readonly resumed: ResumedState };

/** The settings of a dish beside its cells. */
export interface DishNote {
  readonly steps: number;
  /** Steps of the run that was under way. */
  readonly pending: number;
  /** Index of the pattern. */
  readonly pattern: number;
}

/** Keeps a dish in the browser, so that it goes on when the page is opened again. */
export class KeptDish {
  readonly #source: string;
  #store: SnapshotStore | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  /** The session as it was kept, or a new one. */
  async open(onStatus: (text: string) => void): Promise<Session | Resumed> {
    const bytes = await this.#latest();
    if (bytes === undefined) return openSession(this.#source, onStatus);
    try {
      return await resumeSession(bytes, this.#source, onStatus);
    } catch (error) {
      if (!isUnfit(error)) throw error;
      // Of another version of the program, say.
      await this.#store?.clear();
      return openSession(this.#source, onStatus);
    }
  }

  /** From now on. `onError` hears of what could not be stored. */
  async keep(session: Session, { dish, patternOf, onError }: KeepOptions): Promise<void> {
    if (this.#store === undefined) return;
    await session.checkpointTo(this.#store, {
      everyMs: EVERY_MS,
      contents: () => {
        const { steps, pending, cells } = dish;
        const note: DishNote = { steps, pending, pattern: patternOf() };
        return { tensors: cells, note: JSON.stringify(note) };
      },
      onError,
    });
  }

  async #latest(): Promise<Uint8Array | undefined> {
    try {
      this.#store = await opfsStore('reaction-diffusion');
      return await this.#store.latest();
    } catch (error) {
      // Where nothing can be kept, the dish begins anew each time.
      if (isUnfit(error) || error instanceof DOMException) return undefined;
      throw error;
    }
  }
}

export interface KeepOptions {
  readonly dish: Dish;
  readonly patternOf: () => number;
  readonly onError: (error: unknown) => void;
}

/** Puts a dish back to where it was, once the run that was under way is over. */
export async function restoreDish(dish: Dish, { runs, tensors, note }: ResumedState) {
  const { steps, pending, pattern } = JSON.parse(note) as DishNote;
  dish.restore(steps, tensors);
  for (const run of runs) {
    const cells = await run.result({ keep: 'device' });
    dish.restore(steps + (run.entry === 'main' ? pending : 0), cells);
  }
  return { steps: dish.steps, pattern };
}

function isUnfit(error: unknown): boolean {
  return (
    error instanceof FormatError || error instanceof UsageError || error instanceof UnsupportedError
  );
}
