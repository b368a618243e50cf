import { expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { evaluateModule } from '../../evaluation/evaluate-module.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { textAfter } from '../../testing/text-after.ts';

const POOL = 'kernel=[3, 3], strides=[2, 2]';

const program = (x: string, padding: string, pool = POOL): string =>
  `def @main(%x: Tensor[(1, 2, 4, 4), float32], %y: Tensor[(1, 2, 4, 4), float32]) {
    max_pool(pad(${x}, ${padding}), ${pool})
  }`;

const isJoined = (text: string): boolean => !textAfter(['simplify'], text).includes('pad(');

const END = 'pads=[0, 0, 0, 0, 0, 0, 1, 1]';
const LOWEST = 'value=-3.4028234663852886e+38';

test.each([
  ['zeros around what relu gives', program('relu(%x)', END), true],
  ['the least number there', program('relu(%x)', `${END}, ${LOWEST}`), true],
  ['zeros around parts', program('concat(relu(%x), sigmoid(%y), axis=1)', END), true],
  ['two sides', program('abs(%x)', 'pads=[0, 0, 1, 1, 0, 0, 2, 1]'), true],
  ['padding of both', program('exp(%x)', END, `${POOL}, pads=[1, 0, 1, 0]`), true],
  ['what may be negative', program('%x', END), false],
  ['a part that may be', program('concat(relu(%x), %y, axis=1)', END), false],
  ['the least number around what may be', program('%x', `${END}, ${LOWEST}`), false],
  ['something', program('relu(%x)', `${END}, value=0.5`), false],
  ['an edge', program('relu(%x)', `${END}, mode="edge"`), false],
  ['other channels', program('relu(%x)', 'pads=[0, 1, 0, 0, 0, 0, 1, 1]'), false],
  ['what is cut off', program('relu(%x)', 'pads=[0, 0, 0, 0, 0, 0, 1, -1]'), false],
  ['a whole window', program('relu(%x)', 'pads=[0, 0, 0, 0, 0, 0, 3, 0]'), false],
  ['a window with gaps', program('relu(%x)', END, 'kernel=[2, 2], dilations=[2, 2]'), false],
  ['rounding up', program('relu(%x)', END, `${POOL}, ceil_mode=true`), false],
])('padding by %s', (_, text, expected) => {
  expect(isJoined(text)).toBe(expected);
});

test('the same results', () => {
  const values = (phase: number) =>
    HostTensor.from(
      'float32',
      [1, 2, 4, 4],
      Array.from({ length: 32 }, (_, i) => (i === 5 ? Number.NaN : Math.sin(i + phase) * 3)),
    );
  const args = [values(0), values(1)];
  for (const padding of [END, `${END}, ${LOWEST}`, 'pads=[0, 0, 2, 1, 0, 0, 1, 2]']) {
    const text = program('concat(relu(%x), abs(%y), axis=1)', padding);
    const after = evaluateModule(parseModule(textAfter(['simplify'], text)), 'main', args);
    expect(after).toEqual(evaluateModule(parseModule(text), 'main', args));
  }
});
