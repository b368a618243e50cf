import { plus, times } from '../../wasm/address.ts';
import { i32, type Local, local, locals } from '../../wasm/expression.ts';
import { call, loop, type Statement } from '../../wasm/statement.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { elementCount } from '../../core/tensor/element-count.ts';

/** Rows along an axis, which are done one after another, element by element. */
interface ScalarRows {
  readonly outer: number;
  readonly inner: number;
  /** Bytes from one row to its next outer one, in x and in y. */
  readonly blockBytes: readonly [number, number];
  /** Bytes from one row to the one beside it. */
  readonly elementBytes: readonly [number, number];
}

/** Rows of a shape along an axis, whose results have so many elements of so many bytes. */
export function scalarRows(
  shape: Shape,
  axis: number,
  { byteLength, results: [count, resultBytes] }: ScalarRow,
): ScalarRows {
  const size = shape[axis] ?? 1;
  const inner = elementCount(shape.slice(axis + 1));
  return {
    outer: size * count === 0 ? 0 : elementCount(shape.slice(0, axis)),
    inner,
    blockBytes: [size * inner * byteLength, count * inner * resultBytes],
    elementBytes: [byteLength, resultBytes],
  };
}

interface ScalarRow {
  /** Bytes of an element of the input. */
  readonly byteLength: number;
  /** Elements of a row's result, and bytes of one. */
  readonly results: readonly [number, number];
}

/** A kernel that calls a function for each row: `body` gets where it begins in x and in y. */
export function scalarRowKernel(
  { outer, inner, blockBytes, elementBytes }: ScalarRows,
  body: (x: Local, y: Local, scratch: readonly Local[]) => readonly Statement[],
  scratch: readonly number[] = [],
): WasmKernel {
  const [x, y] = locals(2);
  const memory = scratch.map(() => local('i32'));
  return {
    functions: [{ name: 'row', params: [x, y, ...memory], body: body(x, y, memory) }],
    scratch,
    units: outer,
    work: outer * blockBytes[0],
    body({ inputs: [from], output, scratch: places, units }) {
      if (from === undefined) return [];
      const [block, column] = locals(2);
      return loop({ index: block, begin: units.first, end: units.end }, [
        ...loop({ index: column, end: i32(inner) }, [
          call('row', [
            plus(plus(from, times(block, blockBytes[0])), times(column, elementBytes[0])),
            plus(plus(output, times(block, blockBytes[1])), times(column, elementBytes[1])),
            ...places,
          ]),
        ]),
      ]);
    },
  };
}
