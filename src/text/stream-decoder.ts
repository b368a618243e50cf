/** Turns ids of tokens into their text. */
export type Decode = (ids: readonly number[]) => string;

/** What stands for bytes that are no whole character. */
const BROKEN = '\ufffd';

/**
 * Text of tokens as they come. Where a character is cut between tokens nothing is given until it is whole; one that never
 * becomes whole is given at the end.
 */
export class StreamDecoder {
  readonly #decode: Decode;
  /** Tokens whose text decides about that of the next ones, such as whether it begins with a blank. */
  #before: number[] = [];
  #waiting: number[] = [];

  constructor(decode: Decode) {
    this.#decode = decode;
  }

  /** The text that a token completes. */
  push(id: number): string {
    this.#waiting.push(id);
    const text = this.#text();
    if (text === '' || text.endsWith(BROKEN)) return '';
    this.#advance();
    return text;
  }

  /** What is left. */
  end(): string {
    const text = this.#text();
    this.#advance();
    return text;
  }

  #text(): string {
    const known = this.#decode(this.#before);
    return this.#decode([...this.#before, ...this.#waiting]).slice(known.length);
  }

  #advance(): void {
    this.#before = this.#waiting;
    this.#waiting = [];
  }
}
