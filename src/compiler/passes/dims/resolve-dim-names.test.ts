import { describe, expect, test } from 'vitest';
import { parseModule } from '../../ir/text/parse.ts';
import { printModule } from '../../ir/text/print.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { bindDims } from './bind-dims.ts';
import { inferTypes } from '../infer-types.ts';
import { resolveDimNames } from './resolve-dim-names.ts';
import { mapFunctions } from '../../ir/walk/visit.ts';

function resolved(text: string): string {
  const context = { types: new TypeInference() };
  const passes = [bindDims({}), inferTypes];
  const module = passes.reduce((before, pass) => pass.run(before, context), parseModule(text));
  return printModule(mapFunctions(module, (fn) => resolveDimNames(fn, context.types)));
}

describe('resolveDimNames', () => {
  test('puts what is known in the place of names', () => {
    expect(
      resolved(`
        def @main(%x: Tensor[(n,), float32], %u: Tensor[(?,), float32]) {
          let %y: Tensor[(k,), float32] = concat(%x, %x, axis=0);
          let %pair: (Tensor[(l,), float32], int) = (concat(%y, %u, axis=0), #1);
          let %f = fn (%z: Tensor[(k,), float32]) { add(%z, full(shape=[k], value=1, dtype="float32")) };
          (%f(%y), reshape(%pair.0, shape=[l, 1]))
        }
      `),
    ).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32], %u: Tensor[(u.0,), float32]) -> (Tensor[(?,), float32], Tensor[(?, 1), float32]) {
        let %y: Tensor[((n * 2),), float32] = concat(%x, %x, axis=0);
        %0 = concat(%y, %u, axis=0);
        let %pair: (Tensor[(((n * 2) + u.0),), float32], int) = (%0, #1);
        let %f: fn (Tensor[((n * 2),), float32]) -> Tensor[((n * 2),), float32] = fn (%z: Tensor[((n * 2),), float32]) -> Tensor[((n * 2),), float32] {
          %1 = full(shape=[(n * 2)], value=1, dtype="float32");
          add(%z, %1)
        };
        %2 = %f(%y);
        %3 = reshape(%pair.0, shape=[((n * 2) + u.0), 1]);
        (%2, %3)
      }
      "
    `);
  });

  test('of what a pattern only mentions', () => {
    const text = `
      def @main(%x: Tensor[(?,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
        let %y = { let %named: Tensor[(k,), float32] = %x; add(%named, full(shape=[k], value=2)) };
        let %z: Tensor[(?,), float32] = match (Some(%y)) { Some(%some) => %some, None => %x };
        (%y, %z)
      }
    `;
    expect(resolved(text)).toMatchInlineSnapshot(`
      "type Option[A] { Some(A), None }

      def @main(%x: Tensor[(x.0,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
        let %v0: Tensor[(x.0,), float32] = full(shape=["x.0"], value=2);
        let %y: Tensor[(x.0,), float32] = add(%x, %v0);
        let %v1: Option[Tensor[(x.0,), float32]] = Some<Tensor[(x.0,), float32]>(%y);
        let %z: Tensor[(?,), float32] = match (%v1) {
          Some(%some: Tensor[(x.0,), float32]) => %some,
          None => %x,
        };
        (%y, %z)
      }
      "
    `);
  });

  test('leaves names of what is unknown, and of parameters and fields', () => {
    const text = `
      def @main(%x: Tensor[(n,), float32], %list: List[Tensor[(?,), float32]]) {
        let %same: Tensor[(n,), float32] = relu(%x);
        match (%list) {
          Cons(%head: Tensor[(m,), float32], %tail) => {
            let %y: Tensor[(m,), float32] = exp(%head);
            let %z: Tensor[(k,), float32] = @any(%y);
            (%same, %z, full(shape=[k, m], value=1, dtype="float32"))
          },
          Nil => (%same, %x, [[1f]]),
        }
      }
      def @any(%x: Tensor[(?,), float32]) -> Tensor[(?,), float32] { %x }
    `;
    expect(resolved(text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%x: Tensor[(n,), float32], %list: List[Tensor[(?,), float32]]) -> (Tensor[(n,), float32], Tensor[(?,), float32], Tensor[(?, ?), float32]) {
        let %same: Tensor[(n,), float32] = relu(%x);
        match (%list) {
          Cons(%head: Tensor[(m,), float32], %tail: List[Tensor[(?,), float32]]) => {
            let %y: Tensor[(m,), float32] = exp(%head);
            let %z: Tensor[(k,), float32] = @any(%y);
            %0 = full(shape=["k", "m"], value=1, dtype="float32");
            (%same, %z, %0)
          },
          Nil => (%same, %x, meta[0]),
        }
      }

      def @any(%x: Tensor[(x.0,), float32]) -> Tensor[(?,), float32] {
        %x
      }

      meta[0]: Tensor[(1, 1), float32]
      "
    `);
  });
});
