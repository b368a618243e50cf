import type { RuleFacts } from './analyse-rules.ts';
import type { CodePointSet } from '../languages/code-points.ts';
import { type Expression, type Graph, type Rules, repeat, text } from '../expression.ts';
import { MAX_PART_COUNT, tooLarge } from '../measure-expression.ts';
import { oneOfTexts } from '../one-of-texts.ts';

/** Units of a counted rule without an upper bound; so many are never read. */
export const UNBOUNDED = 0x7fffffff;

/** A rule by its place in the list of automata, and how many units it has if it is counted. */
export interface RuleCall {
  readonly rule: number;
  readonly min: number;
  readonly max: number;
}

/** A state of a nondeterministic automaton over bytes and rules. */
export interface NfaState {
  /** States that are reached without reading anything. */
  readonly free: number[];
  readonly bytes: { readonly range: ByteRange; readonly target: number }[];
  /** Rules that are read here; each reads at least one byte. */
  readonly calls: (RuleCall & { readonly target: number })[];
}

export interface RuleNfa {
  readonly where: string;
  readonly states: readonly NfaState[];
  readonly start: number;
  readonly end: number;
}

/** So many texts that are alternatives become one graph. */
const MIN_TEXT_COUNT = 16;

/**
 * Builds the automata of the separate and the counted rules of a grammar, by Thompson's construction.
 * Throws CompileLimitError when they are too large with repetitions written out.
 */
export class NfaBuilder {
  readonly #encoder = new TextEncoder();
  readonly #ruleIndices: ReadonlyMap<string, number>;
  #states: NfaState[] = [];
  /** Parts and states so far, of all rules. */
  #partCount = 0;
  #where = 'grammar';

  readonly #rules: Rules;
  readonly #facts: RuleFacts;

  constructor(rules: Rules, facts: RuleFacts) {
    this.#rules = rules;
    this.#facts = facts;

    const names = [...facts.separate, ...facts.counted.map(({ name }) => name)];
    this.#ruleIndices = new Map(names.map((name, index) => [name, index]));
  }

  /** The separate rules in their order, then the counted ones, each as any number of units and the end. */
  *buildAll(): Generator<RuleNfa> {
    for (const name of this.#facts.separate) {
      yield this.#build(`grammar, rule ${name}`, (start) => this.#addRule(name, start));
    }
    for (const { unit, end } of this.#facts.counted) {
      const add = (start: number) => this.#add(text(end), this.#add(repeat(unit, 0), start));
      yield this.#build('grammar', add);
    }
  }

  #build(where: string, add: (start: number) => number): RuleNfa {
    this.#where = where;
    this.#states = [];
    const start = this.#addState();
    const end = add(start);
    return { where, states: this.#states, start, end };
  }

  /** Adds states for an expression that begins at a state, and returns the one where it ends. */
  #add(expression: Expression, from: number): number {
    this.#countPart();
    switch (expression.kind) {
      case 'text':
        return this.#encoder
          .encode(expression.text)
          .reduce((state, byte) => this.#addBytes(state, [byte, byte]), from);
      case 'character':
        return this.#addAlternatives(from, utf8Ranges(expression.set), (start, ranges) =>
          ranges.reduce((state, range) => this.#addBytes(state, range), start),
        );
      case 'sequence':
        return expression.parts.reduce((state, part) => this.#add(part, state), from);
      case 'choice':
        return this.#addChoice(expression.options, from);
      case 'repeat':
        return this.#addRepeat(expression, from);
      case 'graph':
        return this.#addGraph(expression, from);
      case 'counted':
        return this.#addCall(expression.name, from, expression);
      case 'rule':
        return this.#facts.inlined.has(expression.name)
          ? this.#addRule(expression.name, from)
          : this.#addCall(expression.name, from, { min: 0, max: UNBOUNDED });
      default:
        return expression satisfies never;
    }
  }

  #addRule(name: string, from: number): number {
    return this.#add(this.#rules.rules.get(name) ?? { kind: 'choice', options: [] }, from);
  }

  /** Called rules read at least one byte, so an empty one is stepped over here. */
  #addCall(name: string, from: number, units: Pick<RuleCall, 'min' | 'max'>): number {
    const target = this.#addState();
    const rule = this.#ruleIndices.get(name) ?? 0;
    const max = Math.min(units.max, UNBOUNDED);
    this.#state(from).calls.push({ rule, min: Math.min(units.min, UNBOUNDED), max, target });
    if (this.#facts.nullable.has(name)) this.#link(from, target);
    return target;
  }

  #addChoice(options: readonly Expression[], from: number): number {
    const texts = options.flatMap((option) => (option.kind === 'text' ? [option.text] : []));
    const others = options.filter(({ kind }) => kind !== 'text');
    const isLong = texts.length >= MIN_TEXT_COUNT;
    const all = isLong ? [oneOfTexts(texts, this.#where), ...others] : options;
    return this.#addAlternatives(from, all, (start, option) => this.#add(option, start));
  }

  #addAlternatives<T>(
    from: number,
    alternatives: readonly T[],
    add: (from: number, alternative: T) => number,
  ): number {
    const end = this.#addState();
    for (const alternative of alternatives) this.#link(add(from, alternative), end);
    return end;
  }

  #addRepeat({ body, min, max }: Expression & { kind: 'repeat' }, from: number): number {
    let state = from;
    for (let i = 0; i < min; i++) state = this.#add(body, state);
    const end = this.#addState();
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#addState();
      this.#link(state, loop);
      this.#link(this.#add(body, loop), loop);
      this.#link(loop, end);
      return end;
    }
    for (let i = min; i < max; i++) {
      this.#link(state, end);
      state = this.#add(body, state);
    }
    this.#link(state, end);
    return end;
  }

  #addGraph({ edges, end }: Graph, from: number): number {
    const states = [from];
    const stateOf = (place: number): number => (states[place] ??= this.#addState());
    for (const { from, to, body } of edges) {
      this.#link(this.#add(body, stateOf(from)), stateOf(to));
    }
    return stateOf(end);
  }

  #addBytes(from: number, range: ByteRange): number {
    const target = this.#addState();
    this.#state(from).bytes.push({ range, target });
    return target;
  }

  #countPart(): void {
    this.#partCount++;
    if (this.#partCount > MAX_PART_COUNT) {
      throw tooLarge(this.#where, `more than ${MAX_PART_COUNT} parts`);
    }
  }

  #addState(): number {
    this.#countPart();
    return this.#states.push({ free: [], bytes: [], calls: [] }) - 1;
  }

  #link(from: number, to: number): void {
    this.#state(from).free.push(to);
  }

  #state(index: number): NfaState {
    const state = this.#states[index];
    if (state === undefined) throw new Error(`internal: no state ${index}`);
    return state;
  }
}

/** Bytes from the first to the last, both included. */
type ByteRange = readonly [first: number, last: number];

/** The last code points of one, two, three and four bytes. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/**
 * The UTF-8 of a set of code points as sequences of byte ranges: a text is one character of the set
 * exactly when its bytes lie in the ranges of one sequence. As in Rust's `utf8-ranges`.
 */
function utf8Ranges(set: CodePointSet): ByteRange[][] {
  const sequences: ByteRange[][] = [];
  for (const [first, last] of set) {
    let from = 0;
    for (const lastOfLength of LAST_OF_LENGTH) {
      if (first <= lastOfLength && last >= from) {
        split(Math.max(first, from), Math.min(last, lastOfLength), sequences);
      }
      from = lastOfLength + 1;
    }
  }
  return sequences;
}

/** Splits a range of characters of one length where a byte would not have all values behind it. */
function split(first: number, last: number, sequences: ByteRange[][]): void {
  for (const bits of [6, 12, 18]) {
    const mask = (1 << bits) - 1;
    if (last <= 0x7f || (first & ~mask) === (last & ~mask)) continue;
    const middle =
      (first & mask) !== 0 ? first | mask : (last & mask) !== mask ? (last & ~mask) - 1 : undefined;
    if (middle === undefined) continue;
    split(first, middle, sequences);
    split(middle + 1, last, sequences);
    return;
  }
  const ends = encode(last);
  sequences.push(encode(first).map((byte, i) => [byte, ends[i] ?? byte]));
}

function encode(codePoint: number): number[] {
  const length = LAST_OF_LENGTH.findIndex((last) => codePoint <= last) + 1;
  if (length === 1) return [codePoint];
  const bytes: number[] = [];
  for (let shift = 6 * (length - 1); shift >= 0; shift -= 6) {
    bytes.push(0x80 | ((codePoint >> shift) & 0x3f));
  }
  // The lead byte: as many ones as there are bytes, then a zero.
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | ((0xf00 >> length) & 0xff);
  return bytes;
}
