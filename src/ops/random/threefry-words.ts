import { boolAttribute } from '../attributes.ts';
import { defineElementwise } from '../elementwise/elementwise.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import { threefry, type WordOperators } from './threefry-rounds.ts';

const WORDS = [
  { name: 'key', dtypes: ['uint32'] },
  { name: 'more_key', dtypes: ['uint32'] },
  { name: 'counter', dtypes: ['uint32'] },
  { name: 'more_counter', dtypes: ['uint32'] },
] as const;

/** A word of {@link threefry} for each counter: random bits in one kernel. */
export const threefryWords = defineElementwise({
  name: 'threefry',
  inputs: WORDS,
  attributes: { second: { type: 'bool', default: false } },
  scalar: {
    formula: ({ attributes }) => (boolAttribute(attributes, 'second') ? SECOND : FIRST),
    cost: 110,
  },
});

const [FIRST, SECOND] = [0, 1].map((word) => bindEach((words) => roundsOf(words)[word] ?? f.X)) as [
  Expression,
  Expression,
];

function roundsOf(words: WordOperators<Expression>): readonly [Expression, Expression] {
  const [key, moreKey, counter, moreCounter] = WORDS.map((_, index) => f.operand(index)) as [
    Expression,
    Expression,
    Expression,
    Expression,
  ];
  return threefry(words, [key, moreKey], [counter, moreCounter]);
}

/** An expression in which each result has a name, since most are used more than once. */
function bindEach(build: (words: WordOperators<Expression>) => Expression): Expression {
  const bindings: { name: string; value: Expression }[] = [];
  const named = (value: Expression): Expression => {
    const name = `word${bindings.length}`;
    bindings.push({ name, value });
    return { kind: 'variable', name };
  };
  const result = build({
    add: (a, b) => named(f.add(a, b)),
    xor: (a, b) => named(f.xor(a, b)),
    or: (a, b) => named(f.or(a, b)),
    shiftLeft: (word, bits) => named(f.shl(word, bits)),
    shiftRight: (word, bits) => named(f.shr(word, bits)),
  });
  return bindings.reduceRight(
    (body, { name, value }) => ({ kind: 'let', name, value, body }),
    result,
  );
}
