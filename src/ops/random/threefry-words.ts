import { boolAttribute } from '../attributes.ts';
import { defineElementwise } from '../elementwise/elementwise.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';

/** Rotations of Threefry-2x32, used in turns. */
const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24];
/** Rounds between two additions of the key. */
const ROUNDS = 4;
/** So that a key of zeros is none. */
const PARITY = 0x1bd11bda;

/** Operators on words of 32 bits, whatever computes them. */
export interface WordOperators<Word> {
  add(a: Word, b: Word | number): Word;
  xor(a: Word, b: Word | number): Word;
  or(a: Word, b: Word): Word;
  shiftLeft(word: Word, bits: number): Word;
  shiftRight(word: Word, bits: number): Word;
}

/**
 * The two words that Threefry-2x32 of 20 rounds makes of a counter under a key (Salmon et al. 2011, "Parallel random
 * numbers: as easy as 1, 2, 3").
 */
export function threefry<Word>(
  words: WordOperators<Word>,
  [first, second]: readonly [Word, Word],
  counter: readonly [Word, Word | number],
): readonly [Word, Word] {
  const keys = [first, second, words.xor(words.xor(first, second), PARITY)];
  const keyAt = (index: number): Word => keys[index % keys.length] ?? first;
  let x = words.add(first, counter[0]);
  let y = counter[1] === 0 ? second : words.add(second, counter[1]);
  for (let round = 0; round < 5 * ROUNDS; round++) {
    const bits = ROTATIONS[round % ROTATIONS.length] ?? 0;
    x = words.add(x, y);
    const rotated = words.or(words.shiftLeft(y, bits), words.shiftRight(y, 32 - bits));
    y = words.xor(rotated, x);
    if (round % ROUNDS !== ROUNDS - 1) continue;
    const turn = (round + 1) / ROUNDS;
    x = words.add(x, keyAt(turn));
    y = words.add(words.add(y, keyAt(turn + 1)), turn);
  }
  return [x, y];
}

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
