import { compile, parseModule } from '../../../src/frontend/index.ts';

/** A text with a mistake. */
export interface Mistake {
  readonly text: string;
  /** The place and words with which the message begins. */
  readonly expected: string;
}

export const MISTAKES: readonly Mistake[] = [
  {
    text: 'def @main(%x: Tensor[(2,), float32]) { rleu(%x) }',
    expected: 'shown.ir:1:40: got "rleu", expected an operator. Did you mean relu?',
  },
  {
    text: 'extern def @f(%x) -> int\ndef @main() { #1 }',
    expected: 'shown.ir:1:15: got "%x", expected a parameter with its type, such as %x: int.',
  },
  {
    text: 'def @main(%x: Tensor[(2,), float32], %y: Tensor[(3,), float32]) {\n  add(%x, %y)\n}',
    expected: 'shown.ir:2:3: add: got (2,) and (3,), expected shapes that broadcast',
  },
  {
    text: 'def @main(%x: int) -> int {\n  match (%x) { #1 => #2 }\n}',
    expected: 'shown.ir:2:3: got no clause for _, expected clauses for every value.',
  },
  {
    text: 'def @main(%x: int) {\n  let %f = fn (%y: int) { %y };\n  %f(%x, %x)\n}',
    expected: 'shown.ir:3:3: got 2 arguments, expected 1.',
  },
];

/** The messages of {@link MISTAKES}, in order. */
export function messagesOf(): string[] {
  return MISTAKES.map(({ text }) => {
    try {
      compile(parseModule(text, { file: 'shown.ir' }), { texts: new Map([['shown.ir', text]]) });
      return 'no message';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
}
