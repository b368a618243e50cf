import { describe, expect, test } from 'vitest';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { f32, loadProgram } from '../testing/load-program.ts';

/** The host, and WebGPU as on software adapters. */

/** A row of 64 floats takes 256 bytes. */
const rows = (count: number) => `Tensor[(1, ${count}, 64), float32]`;

/** Programs after `%x: (1, 1, 64)`. `isJoined`: operands are computed in memory of the result. */
const PROGRAMS: readonly (readonly [title: string, isJoined: boolean, text: string])[] = [
  [
    'parts that others read too',
    true,
    `let %a = softmax(%x, axis=2);
     let %b = softmax(mul(%a, %x), axis=2);
     let %d = softmax(add(%b, %x), axis=2);
     let %all = concat(%a, %d, axis=1);
     let %e = softmax(%all, axis=1);
     add(softmax(%e, axis=2), reduce_max(%b, axes=[2], keepdims=true))`,
  ],
  [
    'the result of the function',
    true,
    `let %a = softmax(%x, axis=2);
     let %b = softmax(mul(%x, %x), axis=2);
     concat(%a, %b, axis=1)`,
  ],
  [
    'parts of several rows',
    true,
    `let %a = softmax(broadcast_to(%x, shape=[1, 3, 64]), axis=1);
     let %b = softmax(broadcast_to(%x, shape=[1, 2, 64]), axis=2);
     let %d = softmax(%x, axis=2);
     softmax(concat(%b, %a, %d, axis=1), axis=1)`,
  ],
  [
    'one part that the kernel of the other reads',
    false,
    `let %a = softmax(%x, axis=2);
     let %b = softmax(%a, axis=2);
     softmax(concat(%a, %b, axis=1), axis=1)`,
  ],
  [
    'one tensor twice',
    false,
    `let %a = softmax(%x, axis=2);
     softmax(concat(%a, %a, axis=1), axis=1)`,
  ],
  [
    // A compiler of shaders did not come to an end where loads and comparisons both branch.
    'parts that a reduction reads where they lie',
    false,
    `let %all = concat(%x, %x, axis=2);
     let %most = reduce_max(%all, axes=[2], keepdims=true);
     let %place = cast(reshape(arg_max(%all, axis=2), shape=[1, 1, 1]), to="float32");
     add(mul(%x, %place), mul(%most, reduce_min(%all, axes=[2], keepdims=true)))`,
  ],
  [
    'a part from outside',
    false,
    `let %a = softmax(%x, axis=2);
     softmax(concat(%a, %x, axis=1), axis=1)`,
  ],
  [
    'another axis',
    false,
    `let %a = softmax(broadcast_to(%x, shape=[1, 2, 64]), axis=2);
     let %b = softmax(broadcast_to(%x, shape=[1, 2, 64]), axis=1);
     softmax(concat(%a, %b, axis=2), axis=1)`,
  ],
  [
    'parts that begin where no binding may',
    false,
    `let %a = softmax(slice(%x, starts=[0, 0, 0], ends=[1, 1, 63], steps=[1, 1, 1]), axis=2);
     let %b = softmax(%x, axis=2);
     softmax(concat(%a, %b, axis=2), axis=2)`,
  ],
  [
    'a part that the function gives back as well',
    false,
    `let %a = softmax(%x, axis=2);
     let %b = softmax(mul(%x, %x), axis=2);
     let %all = softmax(concat(%a, %b, axis=1), axis=1);
     let %f = fn (%y: ${rows(2)}) { mul(%y, %a) };
     @apply(%f, %all)`,
  ],
  [
    'a whole that would be reserved while memory is scarce',
    false,
    `let %a = softmax(%x, axis=2);
     let %large = softmax(broadcast_to(%x, shape=[1, 5, 64]), axis=1);
     let %small = softmax(reduce_max(softmax(%large, axis=2), axes=[1], keepdims=true), axis=2);
     let %b = softmax(add(%small, %x), axis=2);
     softmax(concat(%a, %b, axis=1), axis=1)`,
  ],
];

const X = f32([1, 1, 64], ...Array.from({ length: 64 }, (_, i) => Math.sin(i * 1.7) * 2));

describe.each(DEVICES)('joined tensors on $title', ({ open }) => {
  test.each(PROGRAMS)('%s', async (_, isJoined, body) => {
    const text = `def @apply<A, B>(%f: fn (A) -> B, %a: A) -> B { %f(%a) }
      def @main(%x: ${rows(1)}) { ${body} }`;
    const device = await open();
    const { vm, launches } = await loadProgram(text, { device });
    try {
      const result = await vm.get('main')(X);
      if (!(result instanceof TensorValue)) throw new Error('the result is no tensor');
      const [actual] = await vm.read([result]);
      vm.release(result);
      const expected = evaluateModule(parseModule(text), 'main', [X]) as HostTensor;
      expect(actual && firstDifference(actual, expected, { rtol: 1e-4, atol: 1e-6 })).toBe(
        undefined,
      );
      const joins = (await launches('main', X)).filter((name) => name.includes('concat'));
      expect(joins.length === 0).toBe(isJoined);
    } finally {
      vm.dispose();
      device.destroy();
    }
  });
});
