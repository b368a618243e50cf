import type { PassInstrument } from './pass-instrument.ts';

/** The time that one run of a pass took. */
interface PassTime {
  readonly pass: string;
  /** Milliseconds of wall-clock time that the pass took. */
  readonly milliseconds: number;
}

/** An instrument that measures how long each pass takes. */
export class PassTimes implements PassInstrument {
  readonly #times: PassTime[] = [];
  #start = 0;

  /** The runs so far, in order. A pass that runs twice is there twice. */
  get times(): readonly PassTime[] {
    return this.#times;
  }

  /** Starts the clock before a pass. */
  beforePass(): void {
    this.#start = performance.now();
  }

  /** Stops the clock, and notes the time of the pass. */
  afterPass({ pass }: { readonly pass: string }): void {
    this.#times.push({ pass, milliseconds: performance.now() - this.#start });
  }

  /** A line for each run, with its share of the whole. */
  toText(): string {
    const total = this.#times.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    const line = (milliseconds: number, pass: string): string => {
      const share = total === 0 ? 0 : (100 * milliseconds) / total;
      return `${milliseconds.toFixed(2).padStart(10)} ms ${share.toFixed(0).padStart(4)}%  ${pass}\n`;
    };
    const lines = this.#times.map(({ milliseconds, pass }) => line(milliseconds, pass));
    return `${lines.join('')}${line(total, 'all passes')}`;
  }
}
