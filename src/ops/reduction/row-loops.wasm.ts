import { apply, type Expression, i32, type Local, local } from '../../wasm/expression.ts';
import { lesser, times } from '../../wasm/address.ts';
import { call, loop, set, type Statement, type WasmFunction, when } from '../../wasm/statement.ts';
import type { WasmKernel } from '../wasm-lowering.ts';
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
export type RowBody = (shape: RowShape, x: Local, y: Local) => readonly Statement[];

/**
 * A kernel that does the same to all rows: a function for a row, or for four side by side, is called
 * for each, so that an engine that optimises functions between calls soon does.
 */
export function rowKernel(problem: RowProblem, body: RowBody): WasmKernel {
  const { outer, size, inner, elementBytes, resultSize } = problem;
  const lanes = inner === 1 ? 'along' : 'across';
  const widths = inner === 1 ? [1] : [4, inner % 4].filter((rows) => rows > 0 && rows <= inner);
  const functions = widths.map((rows): WasmFunction => {
    const [x, y] = [local('i32'), local('i32')];
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
      const [block, column] = [local('i32'), local('i32')];
      const at = (base: Local, bytes: number, from: Expression, blockElements: number) =>
        apply(
          'i32.add',
          base,
          apply(
            'i32.add',
            apply('i32.mul', block, i32(blockElements * bytes)),
            apply('i32.mul', from, i32(bytes)),
          ),
        );
      const callRows = (rows: number, from: Expression): Statement =>
        call(`rows${rows}`, [
          at(x, elementBytes[0], from, size * inner),
          at(output, elementBytes[1], from, resultSize * inner),
        ]);
      const whole = inner - (inner % 4);
      const columns =
        inner === 1
          ? [callRows(1, i32(0))]
          : [
              ...loop({ index: column, end: i32(whole), step: 4 }, [callRows(4, column)]),
              ...(inner % 4 === 0 ? [] : [callRows(inner % 4, i32(whole))]),
            ];
      if (!isOneBlock) return loop({ index: block, begin: units.first, end: units.end }, columns);
      const [first, end] = [times(units.first, 4), lesser(times(units.end, 4), whole)];
      return [
        set(block, i32(0)),
        ...(whole === 0
          ? []
          : loop({ index: column, begin: first, end, step: 4 }, [callRows(4, column)])),
        ...(inner % 4 === 0
          ? []
          : when(apply('i32.eq', units.end, i32(Math.ceil(inner / 4))), [
              callRows(inner % 4, i32(whole)),
            ])),
      ];
    },
  };
}
