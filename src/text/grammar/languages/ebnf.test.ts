import { expect, test } from 'vitest';
import { compileGrammar } from '../compile-grammar.ts';
import { randomTokens } from '../testing/random-tokens.ts';
import { Vocabulary } from '../tokens/vocabulary.ts';
import { vocabularyData } from '../../../frontend/decoders/reader/vocabulary-data.ts';

const TOKENS = randomTokens(1000, 4);
const VOCABULARY = new Vocabulary(
  vocabularyData([...TOKENS, undefined], { endTokens: [TOKENS.length] }),
);

/** The JSON grammar that comes with llama.cpp. */
const JSON_GRAMMAR = String.raw`root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws

object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws

array  ::=
  "[" ws (
            value
    ("," ws value)*
  )? "]" ws

string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws

number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws

# Optional space: by convention, applied in this grammar after literal chars when allowed
ws ::= | " " | "\n" [ \t]{0,20}`;

const EXAMPLES: readonly [grammar: string, allowed: string[], refused: string[]][] = [
  [
    JSON_GRAMMAR,
    ['{}', '{ "a\\u00e9": [1.5e3, -2, {"b":\n\t\tnull}]}'],
    ['[]', '{"a":}', '{"a":01}'],
  ],
  [
    'root ::= "a" b? c+\nb ::= "b" |\n "B" # or\nc ::= [^a-c\\]]{2}',
    ['abdd', 'aBé日', 'axyzw'],
    ['ab', 'abd', 'aa]'],
  ],
  ['root::="\\x41\\u00e9\\U0001F600\\n\\t\\r\\"\\\\"', ['Aé😀\n\t\r"\\'], ['A']],
  ['root ::= . [-a] [a-] "x"{2,} "y"{1}', ['é-axxy', '\n--xxxxy'], ['a--xy', '日abxxy']],
  ['a-1 ::= "a" root_2\nroot_2 ::= a-1 | ""\nroot ::= a-1', ['a', 'aaa'], ['', 'b']],
];

test.each(EXAMPLES)('%s', (ebnf, allowed, refused) => {
  const grammar = compileGrammar({ ebnf }, VOCABULARY);
  const isAllowed = (text: string): boolean => {
    const matcher = grammar.start();
    const bytes = new TextEncoder().encode(text);
    return bytes.every((byte) => matcher.accept(byte)) && matcher.isComplete;
  };
  expect(allowed.filter((text) => !isAllowed(text))).toEqual([]);
  expect(refused.filter(isAllowed)).toEqual([]);
});

test('another rule may be the root', () => {
  const matcher = compileGrammar(
    { ebnf: 'root ::= "a"\nother ::= "b"', root: 'other' },
    VOCABULARY,
  );
  expect(matcher.start().accept(0x62)).toBe(true);
});

test.each([
  ['root ::= "a', 'ebnf:1:12: got the end, expected the rest of a literal or class.'],
  ['root ::= "a"\n\n  b', 'ebnf:3:3: got none, expected a rule b ::= ….'],
  ['a ::= "a"', 'ebnf:1:1: got none, expected a rule root ::= ….'],
  ['root ::= "a"\nroot ::= "b"', 'ebnf:2:1: got root again, expected one rule of each name.'],
  ['root ::= ("a"', 'ebnf:1:14: got the end, expected ")".'],
  ['root ::= "a")', 'ebnf:1:13: got ")", expected a rule, name ::= ….'],
  [
    'root ::= [b-a]',
    'ebnf:1:11: got one, expected a range whose first character is not above the last.',
  ],
  ['root ::= "\\q"', 'ebnf:1:11: got \\q, expected \\n, \\r, \\t'],
  ['root ::= "\\u12"', 'ebnf:1:11: got \\u, expected a code point in hexadecimal digits.'],
  [
    'root ::= "a"{3,1}',
    'ebnf:1:13: got {3,1}, expected a first number that is not above the second.',
  ],
  ['root ::= <think>', 'ebnf:1:10: got a token, expected literals, classes, groups and rules.'],
  ['root ::= @', 'ebnf:1:10: got "@", expected a literal, a class, a group or a rule.'],
  [
    'root ::= a "x"\na ::= b | "c"\nb ::= "d"? root',
    'rule root: got a rule that begins with itself (root → a → b → root), expected rules without left recursion. Write it as a repetition',
  ],
  [
    'root ::= "(" root ")"',
    'grammar: got rules that no text can satisfy, expected at least one text. Give each recursive rule an alternative that ends.',
  ],
  [`root ::= ${'('.repeat(2000)}`, 'expected at most 100 groups inside each other.'],
])('refused with the place: %s', (ebnf, message) => {
  expect(() => compileGrammar({ ebnf }, VOCABULARY)).toThrow(message);
});
