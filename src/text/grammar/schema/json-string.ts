import {
  ALL,
  type CodePointSet,
  charactersOf,
  codePointSet,
  complement,
  contains,
  difference,
  union,
} from '../code-points.ts';
import { character, choice, type Expression, repeat, sequence, text } from '../expression.ts';

const CONTROLS = codePointSet([[0, 0x1f]]);
/** Characters that a JSON string has only behind a backslash. */
const ESCAPED = union(CONTROLS, charactersOf('"\\'));
const PLAIN = complement(ESCAPED);

const oneOf = (characters: string): Expression => character(charactersOf(characters));
const HEX = oneOf('0123456789abcdefABCDEF');
const SHORT_ESCAPE = sequence(text('\\'), oneOf('"\\/bfnrt'));

/** One code point of a JSON string, however it is written. Surrogates are there in pairs only. */
const UNIT = choice(
  character(PLAIN),
  SHORT_ESCAPE,
  sequence(text('\\u'), oneOf('0123456789abcefABCEF'), HEX, HEX, HEX),
  sequence(text('\\u'), oneOf('dD'), oneOf('01234567'), HEX, HEX),
  sequence(
    sequence(text('\\u'), oneOf('dD'), oneOf('89abAB'), HEX, HEX),
    sequence(text('\\u'), oneOf('dD'), oneOf('cdefCDEF'), HEX, HEX),
  ),
);

/** A JSON string with its quotes, of so many code points. */
export function jsonString(min = 0, max = Number.POSITIVE_INFINITY): Expression {
  const characters: Expression = {
    kind: 'counted',
    name: 'characters of a string',
    unit: UNIT,
    end: '"',
    min,
    max,
  };
  return sequence(text('"'), characters);
}

/** The texts of an expression as JSON strings without quotes, each character in its usual spelling. */
export function inJsonString(expression: Expression): Expression {
  switch (expression.kind) {
    case 'text':
      return text(JSON.stringify(expression.text).slice(1, -1));
    case 'character':
      return jsonCharacter(expression.set);
    case 'sequence':
      return sequence(...expression.parts.map(inJsonString));
    case 'choice':
      return choice(...expression.options.map(inJsonString));
    case 'repeat':
      return repeat(inJsonString(expression.body), expression.min, expression.max);
    case 'counted':
    case 'list':
    case 'rule':
      // Regular expressions have none of these.
      return expression;
    default:
      return expression satisfies never;
  }
}

function jsonCharacter(set: CodePointSet): Expression {
  const escaped = [
    '"',
    '\\',
    ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ]
    .filter((escaped) => contains(set, escaped.charCodeAt(0)))
    .map((escaped) => text(JSON.stringify(escaped).slice(1, -1)));
  return choice(character(difference(set, ESCAPED)), ...escaped);
}

/** Characters that need no `\\u`, which would be a second spelling of others. */
const SPELLED = union(difference(ALL, CONTROLS), charactersOf('\b\f\n\r\t'));

/** JSON strings other than some. Each character has one spelling, so none of those can be written. */
export function jsonStringExcept(excluded: readonly string[]): Expression {
  const rest = sequence(repeat(jsonCharacter(SPELLED), 0), text('"'));
  /** The characters with which an excluded string goes on, by prefix of it. */
  const nextOf = new Map<string, string>([['', '']]);
  for (const name of excluded) {
    let prefix = '';
    for (const next of name) {
      nextOf.set(prefix, (nextOf.get(prefix) ?? '') + next);
      prefix += next;
    }
    nextOf.set(prefix, nextOf.get(prefix) ?? '');
  }
  const options = [...nextOf].map(([prefix, next]) => {
    const others = sequence(jsonCharacter(difference(SPELLED, charactersOf(next))), rest);
    const isExcluded = excluded.includes(prefix);
    return sequence(inJsonString(text(prefix)), isExcluded ? others : choice(others, text('"')));
  });
  return sequence(text('"'), choice(...options));
}
