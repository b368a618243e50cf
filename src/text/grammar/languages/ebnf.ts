import { ALL, type CodePointRange, codePointSet, complement } from './code-points.ts';
import {
  character,
  choiceOf,
  type Expression,
  type Rules,
  rule,
  sequenceOf,
  text,
} from '../expression.ts';
import { parseRepetition } from './repetition.ts';
import { TextCursor } from './text-cursor.ts';

const SPACE = /(?:\s|#[^\n]*)*/y;
const NAME = /[A-Za-z0-9_-]+/y;
const RULE_START = /([A-Za-z0-9_-]+)\s*::=/y;
const HEX_DIGITS: Readonly<Record<string, RegExp>> = {
  x: /[0-9a-fA-F]{2}/y,
  u: /[0-9a-fA-F]{4}/y,
  U: /[0-9a-fA-F]{8}/y,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Parses a grammar as llama.cpp writes it (GBNF): rules `name ::= …` of literals "…", classes […],
 * `.`, groups, alternatives, repetitions and names of rules; comments begin with #.
 *
 * @param root The rule that describes the whole text.
 *
 * Throws ParseError for bad syntax and for rules that are missing or there twice, and UnsupportedError
 * for tokens as parts of a grammar, both with line and column.
 */
export function parseEbnf(grammar: string, root = 'root'): Rules {
  return new EbnfParser(grammar).parse(root);
}

class EbnfParser {
  readonly #cursor: TextCursor;
  readonly #rules = new Map<string, Expression>();
  /** The place where each rule is used first. */
  readonly #uses = new Map<string, number>();

  constructor(grammar: string) {
    this.#cursor = new TextCursor(grammar, 'ebnf');
  }

  parse(root: string): Rules {
    const cursor = this.#cursor;
    cursor.match(SPACE);
    while (!cursor.isAtEnd) {
      const start = cursor.at;
      const name = cursor.match(RULE_START)?.[1];
      if (name === undefined) throw cursor.error('a rule, name ::= …');
      if (this.#rules.has(name))
        throw cursor.error('one rule of each name', `${name} again`, start);
      this.#rules.set(name, this.#parseChoice());
    }
    this.#uses.set(root, this.#uses.get(root) ?? 0);
    for (const [name, at] of this.#uses) {
      if (!this.#rules.has(name)) throw cursor.error(`a rule ${name} ::= …`, 'none', at);
    }
    return { root, rules: this.#rules };
  }

  #parseChoice(): Expression {
    const options = [this.#parseSequence()];
    while (this.#cursor.take('|')) options.push(this.#parseSequence());
    return choiceOf(options);
  }

  #parseSequence(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      this.#cursor.match(SPACE);
      const part = this.#parsePart();
      if (part === undefined) return sequenceOf(parts);
      this.#cursor.match(SPACE);
      parts.push(parseRepetition(this.#cursor, part));
    }
  }

  #parsePart(): Expression | undefined {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (cursor.take('"')) return text(this.#parseLiteral());
    if (cursor.take('[')) return this.#parseClass();
    if (cursor.take('.')) return character(ALL);
    if (cursor.take('(')) {
      const group = cursor.nested(() => this.#parseChoice());
      cursor.expect(')');
      return group;
    }
    if (cursor.take('<') || cursor.take('!')) {
      throw cursor.unsupported('a token', 'literals, classes, groups and rules', start);
    }
    // The next rule begins where a name has ::= behind it.
    if (cursor.match(RULE_START) !== undefined) {
      cursor.at = start;
      return undefined;
    }
    const name = cursor.match(NAME)?.[0];
    if (name !== undefined) {
      if (!this.#uses.has(name)) this.#uses.set(name, start);
      return rule(name);
    }
    const next = cursor.peek();
    if (next !== '' && next !== '|' && next !== ')') {
      throw cursor.error('a literal, a class, a group or a rule');
    }
    return undefined;
  }

  #parseLiteral(): string {
    let literal = '';
    while (!this.#cursor.take('"')) literal += this.#parseCharacter();
    return literal;
  }

  #parseClass(): Expression {
    const cursor = this.#cursor;
    const isNegated = cursor.take('^');
    const ranges: CodePointRange[] = [];
    while (!cursor.take(']')) {
      const start = cursor.at;
      const first = this.#parseCodePoint();
      let last = first;
      if (cursor.take('-')) {
        if (cursor.peek() === ']') ranges.push([0x2d, 0x2d]);
        else last = this.#parseCodePoint();
      }
      if (first > last)
        throw cursor.error('a range whose first character is not above the last', 'one', start);
      ranges.push([first, last]);
    }
    const set = codePointSet(ranges);
    return character(isNegated ? complement(set) : set);
  }

  #parseCodePoint(): number {
    return this.#parseCharacter().codePointAt(0) ?? 0;
  }

  #parseCharacter(): string {
    const cursor = this.#cursor;
    const start = cursor.at;
    const first = cursor.next('the rest of a literal or class');
    if (first !== '\\') return first;
    const kind = cursor.next('an escaped character');
    const digits = HEX_DIGITS[kind];
    if (digits === undefined) return ESCAPES[kind] ?? this.#plainEscape(kind, start);
    const codePoint = Number.parseInt(cursor.match(digits)?.[0] ?? '', 16);
    if (Number.isNaN(codePoint) || codePoint > 0x10ffff) {
      throw cursor.error('a code point in hexadecimal digits', `\\${kind}`, start);
    }
    return String.fromCodePoint(codePoint);
  }

  #plainEscape(kind: string, start: number): string {
    if ('\\"[]^-'.includes(kind)) return kind;
    throw this.#cursor.error(
      '\\n, \\r, \\t, \\", \\\\, \\[, \\], \\x, \\u or \\U',
      `\\${kind}`,
      start,
    );
  }
}
