import type { Complaint } from '../../../core/errors.ts';
import type { Token } from './lexer.ts';
import { sub, type Task } from '../task.ts';

/** A syntax error on its way to where parsing goes on after it. */
export class SyntaxFault extends Error {
  readonly token: Token;
  readonly complaint: Omit<Complaint, 'where'>;

  constructor(token: Token, complaint: Omit<Complaint, 'where'>) {
    super(`got ${complaint.got}, expected ${complaint.expected}`);
    this.token = token;
    this.complaint = complaint;
  }
}

/** A position in the tokens of one definition. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #position: number;
  readonly #limit: number;

  /** Reads the tokens from `start` to before `end`, which begins the next definition. */
  constructor(tokens: readonly Token[], start: number, end: number) {
    this.#tokens = tokens;
    this.#position = start;
    this.#limit = end;
    const next = tokens[end];
    const text = next === undefined || next.kind === 'end' ? '' : next.text;
    this.#end = { start: 0, line: 1, column: 1, ...next, kind: 'end', text };
  }

  /** A token ahead of the one that `next` gives; 0 is that one. */
  peek(distance = 0): Token {
    const index = this.#position + distance;
    return index < this.#limit ? (this.#tokens[index] ?? this.#end) : this.#end;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#position++;
    return token;
  }

  /** The line that the last token taken stands on. */
  get lastLine(): number {
    return this.#tokens[this.#position - 1]?.line ?? 1;
  }

  at(sign: string, distance = 0): boolean {
    const { kind, text } = this.peek(distance);
    return (kind === 'sign' || kind === 'name') && text === sign;
  }

  /** Takes the next token if it is this sign or word. */
  accept(sign: string): boolean {
    if (!this.at(sign)) return false;
    this.#position++;
    return true;
  }

  expect(sign: string): void {
    if (!this.accept(sign)) throw this.unexpected(`"${sign}"`);
  }

  /** Takes the next token, which must be of this kind. */
  take(kind: Token['kind'], what: string): Token {
    if (this.peek().kind !== kind) throw this.unexpected(what);
    return this.next();
  }

  /** Takes a name, plain or quoted. */
  takeName(what: string): Token {
    const { kind } = this.peek();
    if (kind !== 'name' && kind !== 'string') throw this.unexpected(what);
    return this.next();
  }

  /** Items between signs, with commas between them and perhaps after the last. */
  list<T>(open: string, close: string, item: () => T): T[] {
    const items: T[] = [];
    this.expect(open);
    while (!this.accept(close)) {
      items.push(item());
      if (!this.#separator(close)) break;
    }
    return items;
  }

  *listTask<T>(open: string, close: string, item: () => Task<T>): Task<T[]> {
    const items: T[] = [];
    this.expect(open);
    while (!this.accept(close)) {
      items.push(yield* sub(item()));
      if (!this.#separator(close)) break;
    }
    return items;
  }

  unexpected(expected: string, options: FaultOptions = {}): SyntaxFault {
    const { token = this.peek(), got = describeToken(token), remedy } = options;
    return new SyntaxFault(token, { got, expected, remedy });
  }

  /** Takes a comma; without one it takes the closing sign and returns false. */
  #separator(close: string): boolean {
    if (this.accept(',')) return true;
    if (!this.accept(close)) throw this.unexpected(`"," or "${close}"`);
    return false;
  }
}

interface FaultOptions {
  /** Where; by default at the next token. */
  readonly token?: Token;
  readonly got?: string;
  readonly remedy?: string;
}

const SIGILS: Partial<Record<Token['kind'], string>> = {
  variable: '%',
  global: '@',
  int: '#',
  projection: '.',
};

export function describeToken({ kind, text }: Token): string {
  if (kind === 'end' && text === '') return 'the end of the text';
  if (kind === 'string') return `the string ${JSON.stringify(text)}`;
  return JSON.stringify(`${SIGILS[kind] ?? ''}${text}`).replaceAll(/\\(.)/g, '$1');
}
