import { describe, expect, test } from 'vitest';
import { inferModule } from '../../inference/infer-module.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { runNamed, textAfter } from '../../testing/text-after.ts';

const lower = (text: string): string =>
  textAfter(['fuse', 'to-anf', 'lambda-lift', 'plan-memory', 'lower-shapes'], text);

describe('lower-shapes', () => {
  test('parameters are checked; one program computes what follows from them', () => {
    const text = `def @main(%x: Tensor[(m, n), float32], %y: Tensor[(m * 2,), float32]) {
      (pad(%x, pads=[0, 0, 1, 1]), reshape(%y, shape=[m, 2]))
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(m, n), float32], %y: Tensor[((m * 2),), float32]) -> (Tensor[((m + 1), (n + 1)), float32], Tensor[(m, 2), float32]) {
        let %h: shape_heap = shape_heap(slots=9);
        let %_: () = check_tensor(%x, rank=2, dtype="float32", context="input \\"x\\"");
        let %__1: () = match_shape(%x, %h, dims=["store 0", "store 1"], context="input \\"x\\"");
        let %__2: () = check_tensor(%y, rank=1, dtype="float32", context="input \\"y\\"");
        let %__3: () = match_shape(%y, %h, dims=["any"], context="input \\"y\\"");
        let %__4: () = compute_shape(%h, program=["load 0", "const 2", "mul", "store 3"]);
        let %__5: () = match_shape(%y, %h, dims=["slot 3"], context="input \\"y\\"");
        let %__6: () = compute_shape(%h, program=["load 0", "const 1", "add", "store 5", "load 1", "const 1", "add", "store 6", "const 4", "load 5", "mul", "load 6", "mul", "store 7"]);
        let %n0: int = load_shape(%h, slot=7);
        let %s0: storage = alloc_storage(%n0, bytes=[((4 * (m + 1)) * (n + 1))]);
        let %shape0: shape = make_shape(%h, dims=["slot 5", "slot 6"]);
        let %t0: Tensor[((m + 1), (n + 1)), float32] = alloc_tensor(%s0, %shape0, shape=[(m + 1), (n + 1)], dtype="float32");
        %0 = fn (%p0: Tensor[(m, n), float32], primitive="pad") {
          pad(%p0, pads=[0, 0, 1, 1])
        };
        let %v0: Tensor[((m + 1), (n + 1)), float32] = call_into(%0, %x, %t0);
        let %shape1: shape = make_shape(%h, dims=["slot 0", "2"]);
        let %v1: Tensor[(m, 2), float32] = view_as(%y, %shape1, shape=[m, 2]);
        (%v0, %v1)
      }
      "
    `);
  });

  test('what types leave open is compared before the call; bounds of a symbol', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32], bounds={n: (2, 8)}) {
      add(%x, %y)
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32], bounds={n: (2, 8)}) -> Tensor[(n,), float32] {
        let %h: shape_heap = shape_heap(slots=6);
        let %_: () = check_tensor(%x, rank=1, dtype="float32", context="input \\"x\\"");
        let %__1: () = match_shape(%x, %h, dims=["store 0"], context="input \\"x\\"");
        let %__2: () = check_tensor(%y, rank=1, dtype="float32", context="input \\"y\\"");
        let %__3: () = match_shape(%y, %h, dims=["store 2"], context="input \\"y\\"");
        let %__4: () = compute_shape(%h, program=["load 0", "const 8", "min", "const 2", "max", "store 5"]);
        let %__5: () = match_shape(%x, %h, dims=["slot 5"], context="input \\"x\\", where dimension 0 is from 2 to 8");
        let %t0: Tensor[(n,), float32] = reuse(%x);
        let %shape0: shape = make_shape(%h, dims=["slot 0"]);
        let %__6: () = match_shape(%shape0, %h, dims=["slot 2"], context="ir:2:7: add: got (n,) and (m,), expected shapes that broadcast (dimension -1 is n and m). Dimensions must be equal or 1, aligned from the right.");
        %0 = fn (%p0: Tensor[(n,), float32], %p1: Tensor[(m,), float32], primitive="add", in_place=0) {
          add(%p0, %p1)
        };
        call_into(%0, %x, %y, %t0)
      }
      "
    `);
  });

  test('a size that a branch learns is of the branch', () => {
    const text = `def @main(%c: int, %x: Tensor[(4,), bool]) -> int {
      if (%c) {
        let %i: Tensor[(1, k), int64] = nonzero(%x);
        let %j = concat(%i, %i, axis=1);
        dim(%j, axis=1)
      } else { #0 }
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "def @main(%c: int, %x: Tensor[(4,), bool]) -> int {
        let %h: shape_heap = shape_heap(slots=5);
        let %_: () = check_tensor(%x, rank=1, dtype="bool", context="input \\"x\\"");
        let %__1: () = match_shape(%x, %h, dims=["4"], context="input \\"x\\"");
        if (%c) {
          %0 = fn (%p0: Tensor[(4,), bool], primitive="nonzero") {
            nonzero(%p0)
          };
          let %i: Tensor[(1, k), int64] = %0(%x);
          let %__2: () = match_shape(%i, %h, dims=["1", "store 0"], context="ir:3:13");
          let %__3: () = compute_shape(%h, program=["load 0", "const 2", "mul", "store 2", "const 8", "load 2", "mul", "store 3"]);
          let %n0: int = load_shape(%h, slot=3);
          let %s0: storage = alloc_storage(%n0, bytes=[(8 * (k * 2))]);
          let %shape0: shape = make_shape(%h, dims=["1", "slot 2"]);
          let %t0: Tensor[(1, (k * 2)), int64] = alloc_tensor(%s0, %shape0, shape=[1, (k * 2)], dtype="int64");
          %1 = fn (%p0_1: Tensor[(1, k), int64], primitive="concat") {
            concat(%p0_1, %p0_1, axis=1)
          };
          let %j: Tensor[(1, (k * 2)), int64] = call_into(%1, %i, %t0);
          load_shape(%h, slot=2)
        } else {
          #0
        }
      }
      "
    `);
  });

  test('a function that was a closure learns from what it captured', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) -> fn () -> Tensor[(n,), float32] {
      fn () { neg(%x) }
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> fn () -> Tensor[(n,), float32] {
        let %h: shape_heap = shape_heap(slots=2);
        let %_: () = check_tensor(%x, rank=1, dtype="float32", context="input \\"x\\"");
        let %__1: () = match_shape(%x, %h, dims=["store 0"], context="input \\"x\\"");
        make_closure(@main.fn, %x)
      }

      def @main.fn(%x: Tensor[(n,), float32], captured=1) -> Tensor[(n,), float32] {
        let %h: shape_heap = shape_heap(slots=2);
        let %_: () = match_shape(%x, %h, dims=["store 0"], context="input \\"x\\"");
        let %t0: Tensor[(n,), float32] = reuse(%x);
        %0 = fn (%p0: Tensor[(n,), float32], primitive="neg", in_place=0) {
          neg(%p0)
        };
        call_into(%0, %x, %t0)
      }
      "
    `);
  });

  test('a size that is a number, where there is no heap', () => {
    const text = `def @main(%n: int) -> fn (Tensor[(2,), float32]) -> int {
      fn (%e: Tensor[(2,), float32]) { dim(%e, axis=0) }
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "def @main(%n: int) -> fn (Tensor[(2,), float32]) -> int {
        @main.fn
      }

      def @main.fn(%e: Tensor[(2,), float32], captured=0) -> int {
        #2
      }
      "
    `);
  });

  test('nothing where no tensor comes in', () => {
    const module = inferModule(parseModule('def @main(%n: int) { int_add(%n, #1) }'));
    expect(runNamed(['lower-shapes'], module)).toBe(module);
  });
});
