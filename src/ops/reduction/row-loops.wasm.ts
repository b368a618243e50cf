import { i32, type Local, locals } from '../../wasm/expression.ts';
import { times, plus } from '../../wasm/address.ts';
import { partWidths, forParts } from '../../wasm/for-parts.ts';
import { call, loop, set, type Statement, type WasmFunction } from '../../wasm/statement.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import type { RowShape } from './row-walk.wasm.ts';

/** Rows along one axis: `outer` times `inner` of them, of which `inner` lie side by side. */
export interface RowProblem {
  readonly outer: number;
  readonly size: number;
  readonly inner: number;
  /** Bytes of an element of the input, and of the output. */
  readonly elementBytes: readonly [number, number];
  /** Elements of the output for each row: as many as in a row, or one. */
  readonly resultSize: number;
}

/** The statements for the rows that begin at two addresses. */
type RowBody = (shape: RowShape, x: Local, y: Local) => readonly Statement[];

/**
 * A kernel that does the same to all rows: a function for a row, or for four side by side, is called
 * for each, so that an engine that optimises functions between calls soon does.
 */
export function rowKernel(problem: RowProblem, body: RowBody): WasmKernel {
  const { outer, size, inner, elementBytes, resultSize } = problem;
  const lanes = inner === 1 ? 'along' : 'across';
  const functions = partWidths(inner, 4).map((rows): WasmFunction => {
    const [x, y] = locals(2);
    const shape: RowShape = { size, stride: inner, lanes, rows };
    return { name: `rows${rows}`, params: [x, y], body: body(shape, x, y) };
  });
  // Of one block the columns are shared, four a unit.
  const isOneBlock = outer === 1 && inner > 1;
  return {
    functions,
    units: isOneBlock ? Math.ceil(inner / 4) : outer,
    work: outer * size * inner,
    body({ inputs: [x], output, units }) {
      if (x === undefined || outer * inner * resultSize === 0) return [];
      const [block, part] = locals(2);
      const at = (base: Local, bytes: number, blockElements: number) =>
        plus(base, plus(times(block, blockElements * bytes), times(part, 4 * bytes)));
      const parts = { index: part, count: inner, width: 4 };
      const callRows = (rows: number): Statement[] => [
        call(`rows${rows}`, [
          at(x, elementBytes[0], size * inner),
          at(output, elementBytes[1], resultSize * inner),
        ]),
      ];
      if (isOneBlock) return [set(block, i32(0)), ...forParts({ ...parts, ...units }, callRows)];
      return loop({ index: block, begin: units.first, end: units.end }, forParts(parts, callRows));
    },
  };
}
