import { FormatError, WeftError } from '../../../src/core/errors.ts';
import { withMeter } from '../../../src/core/limits/work-meter.ts';
import { setBits } from '../../../src/text/grammar/tokens/bit-mask.ts';
import {
  compileGrammar,
  type Grammar,
  type GrammarSource,
} from '../../../src/text/grammar/compile-grammar.ts';
import type { JsonSchema } from '../../../src/text/grammar/schema/schema-types.ts';
import { findViolation } from '../../../src/text/grammar/testing/check-value.ts';
import { randomText } from '../../../src/text/grammar/testing/random-text.ts';
import { randomTokens } from '../../../src/text/grammar/testing/random-tokens.ts';
import { Vocabulary } from '../../../src/text/grammar/tokens/vocabulary.ts';
import { vocabularyData } from '../../../src/frontend/decoders/reader/vocabulary-data.ts';
import { MeteredRegExp } from '../../../src/frontend/decoders/reader/metered-regexp.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { changedText, fromBytes, type Json, JsonMutator, toBytes } from './json-values.ts';

const closed = (properties: { [key: string]: Json }, required = Object.keys(properties)): Json => {
  return { type: 'object', properties, required, additionalProperties: false };
};
const SCHEMAS: readonly Json[] = [
  closed(
    {
      a: { type: 'string', minLength: 2, maxLength: 5 },
      b: { type: 'integer', minimum: -12, exclusiveMaximum: 305 },
    },
    ['b'],
  ),
  closed({
    a: { enum: ['x', 1, null, { y: [] }, 'é"', 'xy'] },
    b: { const: [true] },
    c: { type: ['null', 'boolean', 'string'] },
  }),
  closed(
    {
      p: { type: 'string', pattern: '^[A-Z]{2}-\\d{3}$' },
      d: { type: 'string', format: 'date' },
      e: { format: 'email' },
    },
    ['d'],
  ),
  {
    properties: { name: { type: 'null' }, 'na"me': true },
    required: ['name', 'other'],
    additionalProperties: { type: 'number', minimum: 3 },
  },
  {
    type: 'array',
    prefixItems: [{ type: 'integer' }, { type: 'boolean' }],
    items: { type: 'string', maxLength: 3 },
    minItems: 1,
    maxItems: 4,
  },
  {
    type: 'array',
    items: { type: 'array', items: { anyOf: [{ type: 'integer' }, { $ref: '#' }] }, minItems: 2 },
  },
  {
    oneOf: [
      closed({ kind: { const: 'a' }, r: { type: 'number' } }),
      closed({ kind: { const: 'b' }, s: { type: 'integer' } }),
      { type: 'null' },
    ],
  },
  {
    allOf: [
      { $ref: '#/$defs/named' },
      { properties: { size: { type: 'integer', minimum: 3 } }, required: ['size'] },
      { properties: { size: { maximum: 12 } } },
    ],
    $defs: {
      named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  },
  {
    $ref: '#/$defs/node',
    $defs: {
      node: closed({
        value: { type: 'integer' },
        next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] },
      }),
    },
  },
  {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'null' } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  true,
];
const KEYWORDS = [
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  '$defs',
  'title',
  'not',
  '__proto__',
];
const GRAMMARS = [
  'root ::= object\nvalue ::= object | string | number | ("true" | "null") ws\nobject ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws\nstring ::= "\\"" ([^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bn] | "u" [0-9a-f]{4}))* "\\"" ws\nnumber ::= "-"? [0-9]{1,15} ("." [0-9]+)? ws\nws ::= | " " | "\\n" [ \\t]{0,20}',
  'root ::= "(" root ")" | "[" root "]" | "a" | b? c{2,9} ")"\nb ::= "x" b "y" | "" # comment\nc ::= [a-cé] | "--" | b "z"',
  'root ::= item ("," item)*\nitem ::= [^,]{1,8} ";" | "the" ("re" | "n" | "ory")? . | root_2\nroot_2 ::= "\\U0001F600" [-a] [a-]{3,}',
];
const GRAMMAR_PIECES = [
  '::=',
  '\nr ::= ',
  '|',
  '(',
  ')',
  '*',
  '+',
  '?',
  '{2}',
  '{0,999999}',
  '{3,}',
  '"',
  '"a"',
  '[',
  ']',
  '[^a]',
  '.',
  'root',
  ' ',
  '\n',
  '#',
  '\\x41',
  '\\',
  '-',
  '😀',
];
const REGEXES = [
  '^[A-Z]{2}-\\d{3}$',
  '(a|b)*a(a|b){3}',
  '"(?:[^"\\\\]|\\\\.){0,40}"',
  '(?<word>[a-z]+) (?:cat|car|cart|é)?s?|x{2,5}?',
  '[\\w-]+(?:\\.[\\w-]+)*@x\\.de',
  '.\\u00e9|\\x61\\u{1F600}?|[^\\d\\s]*',
];
const REGEX_PIECES = [
  '(',
  ')',
  '(?:',
  '[',
  ']',
  '[^',
  '|',
  '*',
  '+',
  '?',
  '{9}',
  '{2,30}',
  '{0,99999}',
  '.',
  '\\d',
  '\\W',
  '^',
  '$',
  '\\',
  'a',
  'é',
  '😀',
  '-',
  '\\u{1F600}',
  '(?=',
];

/** Schemas, grammars and expressions with changes in their parts. */
export function grammars(): FuzzTarget {
  const mutator = new JsonMutator(SCHEMAS, KEYWORDS);
  const tokens = randomTokens(700, 3);
  const vocabulary = new Vocabulary(
    vocabularyData([...tokens, undefined], { endTokens: [tokens.length] }),
  );
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      if (chance.often(0.6)) {
        const space = chance.often(0.8) ? 'none' : 'pretty';
        return toBytes({ seed, space, schema: mutator.mutate(chance.pick(SCHEMAS), chance, 4) });
      }
      const isRegex = chance.often(0.5);
      const pieces = isRegex ? REGEX_PIECES : GRAMMAR_PIECES;
      let text = chance.pick(isRegex ? REGEXES : GRAMMARS);
      for (let changes = 1 + chance.below(4); changes > 0; changes--)
        text = changedText(text, chance, pieces);
      return toBytes(isRegex ? { seed, regex: text } : { seed, ebnf: text });
    },
    run: async (bytes) => {
      const { seed, ...source } = fromBytes(bytes) as { readonly seed: number } & {
        [key: string]: Json;
      };
      if (
        'schema' in source &&
        typeof source['schema'] !== 'boolean' &&
        !isObject(source['schema'])
      ) {
        // The interface takes nothing else.
        throw new FormatError({ where: 'schema', got: 'no schema', expected: 'one' });
      }
      const grammar = compileGrammar(source as unknown as GrammarSource, vocabulary);
      const chance = new Chance(seed);
      walk(grammar, chance);
      const text = textOf(grammar, chance);
      if (text !== undefined) requireText(source, text);
    },
  };
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Follows random tokens: a mask has what may follow, and what has to follow may. */
function walk(grammar: Grammar, chance: Chance): void {
  const { vocabulary } = grammar;
  const matcher = grammar.start();
  const mask = new Uint32Array(vocabulary.maskLength);
  for (let step = 0; step < 6; step++) {
    matcher.mask(mask);
    const allowed = new Set(setBits(mask));
    if (step % 3 === 0) {
      for (let id = 0; id < vocabulary.size; id++) {
        const isAccepted = matcher.accept(id);
        if (isAccepted) matcher.rollback(1);
        if (isAccepted !== allowed.has(id))
          throw new Error(`token ${id} is ${isAccepted ? 'not ' : ''}in the mask`);
      }
    }
    const forced = matcher.clone();
    for (const id of matcher.forced(8))
      if (!forced.accept(id)) throw new Error(`token ${id} is forced and not accepted`);
    if (allowed.size === 0) {
      if (!matcher.isComplete) throw new Error('no token may follow');
      return;
    }
    matcher.accept(chance.pick([...allowed]));
  }
}

/** A text that ends, if one is found soon. */
function textOf(grammar: Grammar, chance: Chance): string | undefined {
  try {
    return randomText(grammar, () => chance.below(2 ** 30) / 2 ** 30, 12);
  } catch (error) {
    if (error instanceof WeftError || !String(error).includes('no end after')) throw error;
    return undefined;
  }
}

/** The text is one of the source, by code that has nothing to do with grammars. */
function requireText(source: { [key: string]: Json }, text: string): void {
  if (typeof source['regex'] === 'string') {
    if (isMatch(source['regex'], text) === false)
      throw new Error(`${JSON.stringify(text)} does not match`);
    return;
  }
  if (source['schema'] === undefined) return;
  const value: unknown = JSON.parse(text);
  let violation: string | undefined;
  try {
    violation = findViolation(value, source['schema'] as JsonSchema);
  } catch (error) {
    // Keywords without a check, patterns only without the flag `u`, references with escapes or in circles.
    if (/no check of|Invalid regular|TypeError|stack size/.test(String(error))) return;
    throw error;
  }
  // What a schema without a type says of other types is another question than in JSON Schema.
  if (violation !== undefined && !violation.includes('has not oneOf')) throw new Error(violation);
}

/** Undefined where that is not known. */
function isMatch(regex: string, text: string): boolean | undefined {
  let steps = 0;
  const count = (more: number): void => {
    steps += more;
    if (steps > 1e7) throw new RangeError('too many steps');
  };
  try {
    const whole = new MeteredRegExp(new RegExp(`(?:${regex})(?![\\s\\S])`, 'uy'));
    return withMeter({ count, reserve: () => undefined }, () => whole.exec(text) !== null);
  } catch {
    return undefined;
  }
}
