import { describe, expect, test } from 'vitest';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { evaluateModule } from '../../evaluation/evaluate-module.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { textAfter } from '../../testing/text-after.ts';

interface Case {
  readonly x: readonly [number, number, number, number];
  readonly w: readonly [number, number, number, number];
  readonly size: readonly [number, number];
  readonly rest?: string;
  readonly bias?: number;
  /** The type of x in the program, if it is not its shape. */
  readonly type?: string;
}

function programOf({ x, w, size, rest = '', bias, type }: Case): string {
  const extra = bias === undefined ? '' : `, %b: Tensor[(${bias},), float32]`;
  const operands = bias === undefined ? '%x, %w' : '%x, %w, %b';
  return `def @main(%x: Tensor[(${type ?? x.join(', ')}), float32], %w: Tensor[(${w.join(', ')}), float32]${extra}) {
    conv_transpose(${operands}, size=[${size.join(', ')}]${rest})
  }`;
}

function tensor(shape: readonly number[], phase: number): HostTensor {
  const count = shape.reduce((product, size) => product * size, 1);
  const values = Array.from({ length: count }, (_, i) => Math.sin(1.7 * i + phase));
  return HostTensor.from('float32', [...shape], values);
}

const X = [2, 4, 5, 6] as const;

const REPLACED: readonly (readonly [string, Case])[] = [
  ['a step of one', { x: X, w: [4, 3, 3, 2], size: [7, 7] }],
  ['results cut off', { x: X, w: [4, 3, 3, 3], size: [5, 6], rest: ', pads=[1, 1]' }],
  ['gaps', { x: X, w: [4, 3, 3, 3], size: [8, 10], rest: ', pads=[1, 0], dilations=[2, 2]' }],
  ['groups', { x: X, w: [4, 3, 3, 3], size: [7, 8], rest: ', groups=2', bias: 6 }],
  ['a bias', { x: X, w: [4, 3, 3, 3], size: [7, 8], bias: 3 }],
  ['more results than windows', { x: X, w: [4, 3, 3, 3], size: [9, 10] }],
  ['a batch of any size', { x: X, w: [4, 1, 2, 2], size: [6, 7], type: 'n, 4, 5, 6' }],
  [
    'steps of two',
    { x: X, w: [4, 3, 4, 4], size: [10, 12], rest: ', strides=[2, 2], pads=[1, 1]' },
  ],
  [
    'a kernel that steps do not divide',
    { x: X, w: [4, 3, 3, 3], size: [11, 13], rest: ', strides=[2, 2]' },
  ],
  ['steps beyond the kernel', { x: X, w: [4, 3, 1, 2], size: [13, 18], rest: ', strides=[3, 3]' }],
  [
    'different steps',
    { x: X, w: [4, 3, 3, 3], size: [13, 8], rest: ', strides=[3, 1], pads=[1, 0]' },
  ],
  [
    'steps, groups and a bias',
    { x: X, w: [4, 3, 2, 2], size: [10, 12], rest: ', strides=[2, 2], groups=2', bias: 6 },
  ],
];

describe('a transposed convolution becomes a convolution', () => {
  test.each(REPLACED)('with %s', (_, given) => {
    const text = programOf(given);
    const after = textAfter(['simplify'], text);
    expect(after).toContain('conv2d(');
    expect(after).not.toContain('conv_transpose(');
    const args = [tensor(given.x, 0), tensor(given.w, 1)];
    if (given.bias !== undefined) args.push(tensor([given.bias], 2));
    const [expected, actual] = [text, after].map((program) =>
      evaluateModule(parseModule(program), 'main', args),
    ) as [HostTensor, HostTensor];
    expect(firstDifference(actual, expected, { rtol: 1e-5, atol: 1e-6 })).toBeUndefined();
  });

  test.each([
    [
      'more is cut off than a window adds',
      { x: X, w: [4, 3, 3, 3], size: [3, 4], rest: ', pads=[3, 3]' },
    ],
    ['fewer results than windows', { x: X, w: [4, 3, 3, 3], size: [4, 5] }],
    [
      'results beyond the last step',
      { x: X, w: [4, 3, 2, 2], size: [11, 12], rest: ', strides=[2, 2]' },
    ],
    [
      'steps and gaps',
      { x: X, w: [4, 3, 2, 2], size: [11, 13], rest: ', strides=[2, 2], dilations=[2, 2]' },
    ],
  ] as readonly (readonly [string, Case])[])('but not where there are %s', (_, given) => {
    expect(textAfter(['simplify'], programOf(given))).toContain('conv_transpose(');
  });
});
