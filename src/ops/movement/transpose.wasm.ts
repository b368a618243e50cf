import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/tensor/shape.ts';
import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { intsAttribute } from '../attributes.ts';
import { transposed } from '../linear/pack-panels.wasm.ts';
import type { WasmCall, WasmLowering } from '../lowering/wasm-lowering.ts';

/** An axis of the result, and the elements that a step along it moves by in the input and in the result. */
interface Axis {
  readonly size: number;
  readonly from: number;
  readonly to: number;
}

/** Elements on each side of a square: a line of the cache. */
const SIDE = 16;
/** Squares on a side are no use for fewer. */
const LEAST_SIDE = 4;

/**
 * Squares of elements of 32 bits by way of a small piece of memory, so that lines of both tensors are
 * read and written whole. Undefined where the last axis stays the last, and for other elements.
 */
export const transposeWasm: WasmLowering = (given) => {
  const axes = axesOf(given);
  const last = axes.at(-1);
  const across = axes.findIndex(({ from }) => from === 1);
  const column = axes[across];
  const isWord = dtypeInfo(given.output.dtype).byteLength === 4 || given.output.dtype === 'bool';
  if (!isWord || last === undefined || column === undefined || column === last) return undefined;
  if (last.size < LEAST_SIDE || column.size < LEAST_SIDE) return undefined;
  const others = axes.slice(0, -1).filter((_, axis) => axis !== across);
  const strips = Math.ceil(column.size / SIDE);
  const outer = others.reduce((product, { size }) => product * size, 1);
  const [whole, left] = [Math.floor(last.size / SIDE), last.size % SIDE];
  return {
    functions: [squareFunction(last, column), edgeFunction(last, column)],
    scratch: [SIDE * SIDE * FLOAT],
    units: outer * strips,
    body({ inputs: [from], output, scratch: [memory], units }) {
      if (from === undefined || memory === undefined) return [];
      const [unit, source, target, width] = w.locals(4);
      const index = w.local('i32');
      const strip = w.apply('i32.rem_u', unit, w.i32(strips));
      const at = (base: Local, key: 'from' | 'to'): Expression =>
        offsetOf(others, w.apply('i32.div_u', unit, w.i32(strips)), key).reduce<Expression>(
          (sum, part) => plus(sum, part),
          plus(base, times(strip, SIDE * column[key] * FLOAT)),
        );
      const edge = (rows: number): Statement =>
        s.call('edge', [source, target, w.i32(rows), width]);
      const move: Statement[] = [
        s.increment(source, SIDE * last.from * FLOAT),
        s.increment(target, SIDE * FLOAT),
      ];
      return s.loop({ index: unit, begin: units.first, end: units.end }, [
        s.set(source, at(from, 'from')),
        s.set(target, at(output, 'to')),
        s.set(width, lesser(w.apply('i32.sub', w.i32(column.size), times(strip, SIDE)), SIDE)),
        ...s.when(
          w.apply('i32.eq', width, w.i32(SIDE)),
          s.loop({ index, end: w.i32(whole) }, [
            s.call('square', [source, target, memory]),
            ...move,
          ]),
          s.loop({ index, end: w.i32(whole) }, [edge(SIDE), ...move]),
        ),
        ...(left === 0 ? [] : [edge(left)]),
      ]);
    },
  };
};

/** Axes of the result, those together that both tensors walk as one. */
function axesOf({ inputs: [input], output, attributes }: WasmCall): readonly Axis[] {
  const from = rowMajorStrides(input?.shape ?? []);
  const to = rowMajorStrides(output.shape);
  const axes: Axis[] = [];
  if (elementCount(output.shape) === 0) return axes;
  for (const [i, axis] of intsAttribute(attributes, 'perm').entries()) {
    const size = output.shape[i] ?? 1;
    if (size === 1) continue;
    const next = { size, from: from[axis] ?? 0, to: to[i] ?? 0 };
    const before = axes.at(-1);
    if (before?.from !== next.from * size) axes.push(next);
    else axes[axes.length - 1] = { ...next, size: before.size * size };
  }
  return axes;
}

/** Terms of the byte offset that a flat index over axes stands for. */
function offsetOf(
  axes: readonly Axis[],
  index: Expression,
  key: 'from' | 'to',
): readonly Expression[] {
  let inner = 1;
  return axes.toReversed().map((axis) => {
    const place = w.apply('i32.rem_u', w.apply('i32.div_u', index, w.i32(inner)), w.i32(axis.size));
    inner *= axis.size;
    return times(place, axis[key] * FLOAT);
  });
}

/** `square(from, to, memory)`: rows of the input by four into the memory, and from there as rows of the result. */
function squareFunction(row: Axis, column: Axis): WasmFunction {
  const [from, to, memory, index, source, target] = w.locals(6);
  const quads = Array.from({ length: SIDE / 4 }, (_, i) => i * 4);
  const rowsToMemory = quads.flatMap((at): Statement[] => {
    const statements: Statement[] = [];
    const rows = Array.from({ length: 4 }, (_, i) => {
      const vector = w.local('v128');
      statements.push(s.set(vector, w.load('v128', source, (i * row.from + at) * FLOAT)));
      return vector;
    });
    for (const [i, value] of transposed(rows, statements).entries()) {
      statements.push(s.store('v128', { address: target, offset: (at + i) * SIDE * FLOAT }, value));
    }
    return statements;
  });
  const memoryToRows = quads.map((at) =>
    s.store('v128', { address: target, offset: at * FLOAT }, w.load('v128', source, at * FLOAT)),
  );
  return {
    name: 'square',
    params: [from, to, memory],
    body: [
      s.set(source, from),
      s.set(target, memory),
      ...s.loop({ index, end: w.i32(quads.length) }, [
        ...rowsToMemory,
        s.increment(source, 4 * row.from * FLOAT),
        s.increment(target, 4 * FLOAT),
      ]),
      s.set(source, memory),
      s.set(target, to),
      ...s.loop({ index, end: w.i32(SIDE) }, [
        ...memoryToRows,
        s.increment(source, SIDE * FLOAT),
        s.increment(target, column.to * FLOAT),
      ]),
    ],
  };
}

/** `edge(from, to, rows, columns)`: an oblong, element by element. */
function edgeFunction(row: Axis, column: Axis): WasmFunction {
  const [from, to, rows, columns, i, j] = w.locals(6);
  const source = plus(from, plus(times(i, row.from * FLOAT), times(j, FLOAT)));
  const target = plus(to, plus(times(i, FLOAT), times(j, column.to * FLOAT)));
  return {
    name: 'edge',
    params: [from, to, rows, columns],
    body: s.loop({ index: j, end: columns }, [
      ...s.loop({ index: i, end: rows }, [
        s.store('i32', { address: target }, w.load('i32', source)),
      ]),
    ]),
  };
}
