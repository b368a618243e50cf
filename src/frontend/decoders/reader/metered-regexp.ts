import { countWork } from '../../../core/limits/work-meter.ts';

/** A part of an expression: where it may end that begins at a place, in the order in which ends are tried. */
interface Part {
  (text: string, at: number): Iterable<number>;
  /** Of a single character the one end, if it is there. */
  readonly step?: (text: string, at: number) => number | undefined;
}

const MAX_DEPTH = 100;
/** Work of a step, of one that is kept to go back to, and of a match; that of a letter which is only read is 1. */
const WORK = 32;
const KEPT_WORK = 160;
const MATCH_WORK = 320;

/**
 * A regular expression of a file, with the flags `gu`. It matches as RegExp does, by going back where it has to, and counts each step:
 * one that goes back for ever ends with the error of the meter.
 *
 * Throws SyntaxError for what no tokenizer has: references to groups, `\b`, flags of groups.
 */
export class MeteredRegExp extends RegExp {
  readonly #part: Part;

  constructor(pattern: RegExp, flags = pattern.flags) {
    super(pattern, flags);
    this.#part =
      pattern instanceof MeteredRegExp ? pattern.#part : new Parser(pattern.source).parse();
  }

  override exec(text: string): RegExpExecArray | null {
    for (let at = this.lastIndex; at <= text.length; at += widthOf(text.codePointAt(at))) {
      for (const end of this.#part(text, at)) {
        countWork(MATCH_WORK);
        this.lastIndex = end;
        const match: [string] = [text.slice(at, end)];
        return Object.assign(match, { index: at, input: text });
      }
      if (this.sticky) break;
    }
    this.lastIndex = 0;
    return null;
  }

  /** Replaces by the text as it is: `$` means nothing in tokenizers. */
  override [Symbol.replace](text: string, content: unknown): string {
    let replaced = '';
    let last = 0;
    for (const { 0: match, index } of text.matchAll(this)) {
      countWork(WORK * String(content).length);
      replaced += `${text.slice(last, index)}${String(content)}`;
      last = index + match.length;
    }
    return replaced + text.slice(last);
  }
}

const widthOf = (codePoint = 0): number => (codePoint > 0xffff ? 2 : 1);

function codePointBefore(text: string, at: number): number | undefined {
  const pair = text.codePointAt(at - 2) ?? 0;
  return widthOf(pair) === 2 ? pair : text.codePointAt(at - 1);
}

/** A character of a class, an escape or itself. What is one is asked for once. */
function character(source: string, isBehind: boolean): Part {
  const pattern = new RegExp(`^${source}$`, 'u');
  const known = new Map<number, boolean>();
  const step = (text: string, at: number): number | undefined => {
    countWork(WORK);
    const next = isBehind ? codePointBefore(text, at) : text.codePointAt(at);
    if (next === undefined) return undefined;
    let isIn = known.get(next);
    if (isIn === undefined) known.set(next, (isIn = pattern.test(String.fromCodePoint(next))));
    return isIn ? at + (isBehind ? -widthOf(next) : widthOf(next)) : undefined;
  };
  const part = function* (text: string, at: number): Iterable<number> {
    const end = step(text, at);
    if (end !== undefined) yield end;
  };
  return Object.assign(part, { step });
}

function sequence(parts: readonly Part[]): Part {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  function* from(i: number, text: string, at: number): Iterable<number> {
    const part = parts[i];
    if (part === undefined) yield at;
    else for (const next of part(text, at)) yield* from(i + 1, text, next);
  }
  return (text, at) => from(0, text, at);
}

function choice(options: readonly Part[]): Part {
  const [only] = options;
  if (only !== undefined && options.length === 1) return only;
  return function* (text, at) {
    for (const option of options) yield* option(text, at);
  };
}

function look(body: Part, isNegative: boolean): Part {
  return function* (text, at) {
    const [first] = body(text, at);
    if ((first === undefined) === isNegative) yield at;
  };
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
}

/** A repetition of a character, of which all ends are found at once. */
function run(step: NonNullable<Part['step']>, { min, max, isLazy }: Bounds): Part {
  return function* (text, start) {
    const ends = [start];
    for (let end: number | undefined = start; ends.length <= max; ends.push(end)) {
      end = step(text, end);
      if (end === undefined) break;
    }
    if (isLazy) yield* ends.slice(min);
    else for (let i = ends.length - 1; i >= min; i--) yield ends[i] ?? start;
  };
}

function repeat(body: Part, { min, max, isLazy }: Bounds): Part {
  if (body.step !== undefined) return run(body.step, { min, max, isLazy });
  return function* (text, start) {
    /** The ends of the times before, and ways to go on that were not tried. */
    const times: { readonly at: number; readonly ways: Iterator<number> }[] = [];
    const push = (at: number): void => {
      countWork(KEPT_WORK);
      const ways = times.length < max ? body(text, at) : [];
      times.push({ at, ways: ways[Symbol.iterator]() });
    };
    push(start);
    if (isLazy && min === 0) yield start;
    for (let last = times.at(-1); last !== undefined; last = times.at(-1)) {
      const isEnough = times.length > min;
      const { value: next } = last.ways.next() as IteratorResult<number, undefined>;
      if (next === undefined) {
        if (isEnough && !isLazy) yield last.at;
        times.pop();
      } else if (next !== last.at || !isEnough) {
        // What is not asked for has to read something.
        push(next);
        if (isLazy && times.length > min) yield next;
      }
    }
  };
}

const LOOK = /\(\?(<?)([=!])/y;
const GROUP = /\((?!\?)|\(\?:|\(\?<\w+>/y;
const CHARACTER =
  /\[(?:\\.|[^\\\]])*\]|\\(?:[pP]\{\w+(?:=\w+)?\}|u\{[\da-fA-F]+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|d|0|[^\dbBkpPux])|[^\\[\](){}*+?|^$]/suy;
const REPETITION = /(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y;

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Part {
    const part = this.#alternatives(false);
    if (this.#at < this.#source.length) throw this.#error();
    return part;
  }

  #error(): SyntaxError {
    const rest = JSON.stringify(this.#source.slice(this.#at, this.#at + 20));
    return new SyntaxError(`a regular expression that goes on with ${rest}`);
  }

  /** @param isBehind The text is read backwards. */
  #alternatives(isBehind: boolean): Part {
    this.#depth++;
    const options = [this.#sequence(isBehind)];
    while (this.#take(/\|/y)) options.push(this.#sequence(isBehind));
    this.#depth--;
    return choice(options);
  }

  #sequence(isBehind: boolean): Part {
    const parts: Part[] = [];
    for (let part = this.#part(isBehind); part !== undefined; part = this.#part(isBehind)) {
      parts.push(this.#repeated(part));
    }
    return sequence(isBehind ? parts.reverse() : parts);
  }

  /** A part without its repetition; undefined where a sequence ends. */
  #part(isBehind: boolean): Part | undefined {
    const source = this.#take(CHARACTER)?.[0];
    if (source !== undefined) return character(source, isBehind);
    if (this.#depth > MAX_DEPTH) throw this.#error();
    const [, behind, kind] = this.#take(LOOK) ?? [];
    if (kind === undefined && !this.#take(GROUP)) return undefined;
    const body = this.#alternatives(kind === undefined ? isBehind : behind !== '');
    if (!this.#take(/\)/y)) throw this.#error();
    return kind === undefined ? body : look(body, kind === '!');
  }

  #repeated(body: Part): Part {
    const found = this.#take(REPETITION);
    if (found === undefined) return body;
    const [, sign, first, comma, last, lazy] = found;
    const isLazy = lazy !== '';
    if (sign === '?') return repeat(body, { min: 0, max: 1, isLazy });
    if (sign !== undefined) {
      return repeat(body, { min: sign === '+' ? 1 : 0, max: Number.POSITIVE_INFINITY, isLazy });
    }
    const most = last === '' ? Number.POSITIVE_INFINITY : Number(last);
    return repeat(body, { min: Number(first), max: comma === '' ? Number(first) : most, isLazy });
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}
