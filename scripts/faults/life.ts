import type { LoadOptions } from '../../src/client/index.ts';
import { DeviceLostError, WeftError } from '../../src/core/errors.ts';

const STEP_TIMEOUT_MS = 30_000;

/** Where a life is lived, beside a `worker: false`. */
export type LifePlace = Pick<LoadOptions, 'worker' | 'device' | 'gpu'>;

/** What is done with a device. A step may fail once, with a typed error; done again it has to be right. */
export abstract class Life {
  /** The messages with which steps failed. */
  readonly failures: string[] = [];

  /** Does all steps, and disposes of everything. */
  abstract live(): Promise<void>;

  /** Loads again what a lost device held. */
  protected abstract recover(): Promise<void>;

  protected async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await within(name, work());
    } catch (error) {
      this.failures.push(`${name}: ${typedMessage(error, name)}`);
      if (error instanceof DeviceLostError) await within(`${name}, load again`, this.recover());
    }
    return within(`${name} again`, work());
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
