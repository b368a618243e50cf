import { expect, test } from 'vitest';
import { textAfter } from '../../testing/text-after.ts';

const PASSES = ['infer-types', 'fuse', 'to-anf', 'plan-memory'];
const PARAMS = `%x: Tensor[(1, c, 4), float32], %row: Tensor[(1, 1, 4), float32], %at: Tensor[(1,), int32],
  %table: Tensor[(64,), float32]`;

test('a tensor whose shape alone is wanted later is changed in place', () => {
  const planned = textAfter(
    PASSES,
    `def @main(${PARAMS}) {
      (tensor_scatter(tensor_scatter(%x, %row, %at, axis=1), %row, %at, axis=1), slice(%table, starts=[0], ends=[c]))
    }`,
  );
  expect(planned).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(1, c, 4), float32], %row: Tensor[(1, 1, 4), float32], %at: Tensor[(1,), int32], %table: Tensor[(64,), float32]) -> (Tensor[(1, c, 4), float32], Tensor[(min(c, 64),), float32]) {
      let %t0: Tensor[(1, c, 4), float32] = own(%x);
      %0 = fn (%p0: Tensor[(1, c, 4), float32], %p1: Tensor[(1, 1, 4), float32], %p2: Tensor[(1,), int32], primitive="tensor_scatter") {
        tensor_scatter(%p0, %p1, %p2, axis=1)
      };
      let %v0: Tensor[(1, c, 4), float32] = call_into(%0, %t0, %row, %at, %t0);
      let %t1: Tensor[(1, c, 4), float32] = own(%v0);
      %1 = fn (%p0_1: Tensor[(1, c, 4), float32], %p1_1: Tensor[(1, 1, 4), float32], %p2_1: Tensor[(1,), int32], primitive="tensor_scatter") {
        tensor_scatter(%p0_1, %p1_1, %p2_1, axis=1)
      };
      let %v1: Tensor[(1, c, 4), float32] = call_into(%1, %t1, %row, %at, %t1);
      let %s0: storage = alloc_storage(bytes=[(4 * min(c, 64))]);
      let %t2: Tensor[(min(c, 64),), float32] = alloc_tensor(%s0, shape=[min(c, 64)], dtype="float32");
      %2 = fn (%p0_2: Tensor[(64,), float32], %p1_2: Tensor[(1, c, 4), float32], primitive="slice") {
        slice(%p0_2, starts=[0], ends=["c"])
      };
      let %v2: Tensor[(min(c, 64),), float32] = call_into(%2, %table, %v1, %t2);
      (%v1, %v2)
    }
    "
  `);
});

test('one whose elements are wanted is not', () => {
  const planned = textAfter(
    PASSES,
    `def @main(${PARAMS}) {
      (tensor_scatter(%x, %row, %at, axis=1), slice(%table, starts=[0], ends=[c]), exp(%x))
    }`,
  );
  expect(planned).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(1, c, 4), float32], %row: Tensor[(1, 1, 4), float32], %at: Tensor[(1,), int32], %table: Tensor[(64,), float32]) -> (Tensor[(1, c, 4), float32], Tensor[(min(c, 64),), float32], Tensor[(1, c, 4), float32]) {
      let %s0: storage = alloc_storage(bytes=[(16 * c)]);
      let %t0: Tensor[(1, c, 4), float32] = alloc_tensor(%s0, shape=[1, c, 4], dtype="float32");
      %0 = fn (%p0: Tensor[(1, c, 4), float32], %p1: Tensor[(1, 1, 4), float32], %p2: Tensor[(1,), int32], primitive="tensor_scatter") {
        tensor_scatter(%p0, %p1, %p2, axis=1)
      };
      let %v0: Tensor[(1, c, 4), float32] = call_into(%0, %x, %row, %at, %t0);
      let %s1: storage = alloc_storage(bytes=[(4 * min(c, 64))]);
      let %t1: Tensor[(min(c, 64),), float32] = alloc_tensor(%s1, shape=[min(c, 64)], dtype="float32");
      %1 = fn (%p0_1: Tensor[(64,), float32], %p1_1: Tensor[(1, c, 4), float32], primitive="slice") {
        slice(%p0_1, starts=[0], ends=["c"])
      };
      let %v1: Tensor[(min(c, 64),), float32] = call_into(%1, %table, %v0, %t1);
      let %t2: Tensor[(1, c, 4), float32] = reuse(%x);
      %2 = fn (%p0_2: Tensor[(1, c, 4), float32], primitive="exp", in_place=0) {
        exp(%p0_2)
      };
      let %v2: Tensor[(1, c, 4), float32] = call_into(%2, %x, %t2);
      (%v0, %v1, %v2)
    }
    "
  `);
});
