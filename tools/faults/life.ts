import type { LoadOptions } from '../../src/client/index.ts';
import { DeviceLostError, WeftError, WorkerError } from '../../src/core/errors.ts';

const STEP_TIMEOUT_MS = 30_000;

/** The device of a life, and its worker where it has one. */
export interface LifePlace extends Pick<LoadOptions, 'worker' | 'gpu'> {
  readonly device: 'host' | 'wasm' | 'webgpu';
}

/**
 * What is done with something that is loaded. A step may fail once, with a typed error; done again it has to be right.
 * What a lost device or worker held is loaded again.
 */
export abstract class Life<
  Loaded extends { dispose(): Promise<void> } = { dispose(): Promise<void> },
> {
  /** The messages with which steps failed. */
  readonly failures: string[] = [];
  #loaded: Loaded | undefined;

  /** Loads, does all steps, and disposes of everything. */
  async live(): Promise<void> {
    await this.step('load', () => this.#load());
    await this.steps();
    await this.#loaded?.dispose();
  }

  protected abstract load(): Promise<Loaded>;

  protected abstract steps(): Promise<void>;

  protected get loaded(): Loaded {
    if (this.#loaded === undefined) throw new Error('internal: nothing is loaded');
    return this.#loaded;
  }

  protected async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await within(name, work());
    } catch (error) {
      this.failures.push(`${name}: ${typedMessage(error, name)}`);
      const isGone = error instanceof DeviceLostError || error instanceof WorkerError;
      if (isGone) await within(`${name}, load again`, this.#load());
    }
    return within(`${name} again`, work());
  }

  async #load(): Promise<void> {
    await this.#loaded?.dispose();
    this.#loaded = undefined;
    this.#loaded = await this.load();
  }
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
