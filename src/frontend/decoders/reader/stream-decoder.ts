/** Turns ids of tokens into their text. */
type Decode = (ids: readonly number[]) => string;

/** How far a text is that comes token by token. */
export interface StreamState {
  /** Tokens whose text decides about that of the next ones, such as whether it begins with a blank. */
  readonly before: readonly number[];
  /** Tokens behind them whose text is not whole yet. */
  readonly waiting: readonly number[];
}

/** The text that each of some tokens completes, and the state behind them. */
export interface DecodedNext {
  readonly texts: readonly string[];
  readonly state: StreamState;
}

/** The replacement character, which decoders write for bytes that are no whole character. */
const BROKEN = '\ufffd';

/**
 * Text of tokens as they come. Where a character is cut between tokens nothing is given until it is whole; one that never
 * becomes whole is given at the end.
 */
export class StreamDecoder {
  readonly #decode: Decode;
  #before: readonly number[];
  #waiting: number[];

  constructor(decode: Decode, { before, waiting }: StreamState) {
    this.#decode = decode;
    this.#before = before;
    this.#waiting = [...waiting];
  }

  get state(): StreamState {
    return { before: this.#before, waiting: this.#waiting };
  }

  /** The text that a token completes. */
  push(id: number): string {
    this.#waiting.push(id);
    const text = this.#text();
    if (text === '' || text.endsWith(BROKEN)) return '';
    this.#advance();
    return text;
  }

  /** The text of the tokens that still wait, with cut characters as they are. */
  end(): string {
    if (this.#waiting.length === 0) return '';
    const text = this.#text();
    this.#advance();
    return text;
  }

  #text(): string {
    // Of a character that is cut here nothing was given.
    const known = this.#decode(this.#before).replace(/\ufffd+$/, '');
    return this.#decode([...this.#before, ...this.#waiting]).slice(known.length);
  }

  #advance(): void {
    const isCut = this.#decode(this.#before).endsWith(BROKEN);
    this.#before = isCut ? [...this.#before, ...this.#waiting] : this.#waiting;
    this.#waiting = [];
  }
}
