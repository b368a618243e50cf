import { charactersOf } from '../languages/code-points.ts';
import {
  character,
  choice,
  EMPTY,
  type Expression,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from '../expression.ts';
import { JSON_NUMBER } from './json-number.ts';
import { jsonString } from './json-string.ts';

/** White space in JSON: none, or a space or an indented new line where JSON allows some. */
export type JsonSpace = 'none' | 'pretty';

const SPACE_RULE = 'white space';
/** Any JSON value, and any object. */
export const ANY_VALUE = 'any value';
export const ANY_OBJECT = 'any object';

const MAX_INDENTATION = 32;

/** The brackets, commas and colons of JSON, with the white space around them. */
export class JsonLayout {
  readonly comma: Expression;
  readonly #space: Expression;

  constructor(space: JsonSpace) {
    this.#space = space === 'none' ? EMPTY : rule(SPACE_RULE);
    this.comma = sequence(this.#space, text(','), this.#space);
  }

  /** Something between two brackets, such as '{}'. */
  bracketed(brackets: string, body: Expression): Expression {
    const [open = '', close = ''] = brackets;
    return sequence(text(open), this.#space, body, this.#space, text(close));
  }

  member(key: Expression, value: Expression): Expression {
    return sequence(key, this.#space, text(':'), this.#space, value);
  }

  /** From `min` to `max` items with commas between them, where `max` is at least 1. */
  separated(item: Expression, min = 0, max = Number.POSITIVE_INFINITY): Expression {
    if (min <= 1 && max === Number.POSITIVE_INFINITY) {
      // The item is there once, so that lists in lists do not double.
      const edges = [
        { from: 0, to: 1, body: EMPTY },
        { from: 1, to: 2, body: item },
        { from: 2, to: 1, body: this.comma },
        { from: 2, to: 3, body: EMPTY },
      ];
      if (min === 0) edges.push({ from: 0, to: 3, body: EMPTY });
      return { kind: 'graph', edges, end: 3 };
    }
    const more = repeat(sequence(this.comma, item), Math.max(0, min - 1), max - 1);
    const items = sequence(item, more);
    return min === 0 ? optional(items) : items;
  }

  /** The rules that the others refer to. */
  rules(): Map<string, Expression> {
    const value = rule(ANY_VALUE);
    const object = this.bracketed('{}', this.separated(this.member(jsonString(), value)));
    const array = this.bracketed('[]', this.separated(value));
    const others = [text('true'), text('false'), text('null'), JSON_NUMBER, jsonString()];
    const spaces = character(charactersOf(' '));
    const line = sequence(text('\n'), repeat(spaces, 0, MAX_INDENTATION));
    return new Map([
      [ANY_VALUE, choice(rule(ANY_OBJECT), array, ...others)],
      [ANY_OBJECT, object],
      [SPACE_RULE, optional(choice(spaces, line))],
    ]);
  }
}
