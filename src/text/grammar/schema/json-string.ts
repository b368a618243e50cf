import { countWork } from '../../../core/limits/work-meter.ts';
import {
  ALL,
  type CodePointSet,
  charactersOf,
  codePointSet,
  complement,
  contains,
  difference,
  union,
} from '../languages/code-points.ts';
import {
  character,
  choice,
  choiceOf,
  EMPTY,
  type Expression,
  type GraphEdge,
  repeat,
  sequence,
  sequenceOf,
  text,
} from '../expression.ts';

const CONTROLS = codePointSet([[0, 0x1f]]);
/** Characters that a JSON string has only behind a backslash. */
const ESCAPED = union(CONTROLS, charactersOf('"\\'));
const PLAIN = complement(ESCAPED);

const oneOf = (characters: string): Expression => character(charactersOf(characters));
const HEX = oneOf('0123456789abcdefABCDEF');
const SHORT_ESCAPE = sequence(text('\\'), oneOf('"\\/bfnrt'));

/** Steps for a set of characters of which some are taken away. */
const WORK = 500;

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
      return sequenceOf(expression.parts.map(inJsonString));
    case 'choice':
      return choiceOf(expression.options.map(inJsonString));
    case 'repeat':
      return repeat(inJsonString(expression.body), expression.min, expression.max);
    case 'counted':
    case 'graph':
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
  if (escaped.length === 0) return character(set);
  countWork(WORK);
  return choice(character(difference(set, ESCAPED)), ...escaped);
}

/** Characters that need no `\\u`, which would be a second spelling of others. */
const SPELLED = union(difference(ALL, CONTROLS), charactersOf('\b\f\n\r\t'));

/** Printable ASCII without escapes: most of what names have. */
const ASCII = difference(codePointSet([[0x20, 0x7e]]), ESCAPED);

/** JSON strings other than some. Each character has one spelling, so none of those can be written. */
export function jsonStringExcept(excluded: readonly string[]): Expression {
  // Places of the graph: any characters follow, a character beyond ASCII and then any follow, the end.
  const [rest, other, end] = [1, 2, 3];
  /** The characters with which an excluded string goes on at a place, and where they lead to. */
  const nextOf = new Map<number, Map<string, number>>([[0, new Map()]]);
  const ends = new Set<number>();
  for (const name of excluded) {
    countWork(WORK * name.length);
    let place = 0;
    for (const character of name) {
      const next: Map<string, number> = nextOf.get(place) ?? new Map<string, number>();
      place = next.get(character) ?? nextOf.size + end;
      next.set(character, place);
      if (!nextOf.has(place)) nextOf.set(place, new Map());
    }
    ends.add(place);
  }
  const edges: GraphEdge[] = [];
  for (const [from, next] of nextOf) {
    const taken = charactersOf([...next.keys()].join(''));
    const isPlain = difference(taken, ASCII).length === 0;
    const others = difference(isPlain ? ASCII : SPELLED, taken);
    edges.push({ from, to: rest, body: jsonCharacter(others) });
    if (isPlain) edges.push({ from, to: other, body: EMPTY });
    if (!ends.has(from)) edges.push({ from, to: end, body: text('"') });
    for (const [character, to] of next)
      edges.push({ from, to, body: inJsonString(text(character)) });
  }
  edges.push(
    { from: other, to: rest, body: jsonCharacter(difference(SPELLED, ASCII)) },
    { from: rest, to: end, body: sequence(repeat(jsonCharacter(SPELLED), 0), text('"')) },
  );
  return sequence(text('"'), { kind: 'graph', edges, end });
}
