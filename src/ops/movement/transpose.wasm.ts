import { dtypeInfo } from '../../core/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/shape.ts';
import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import {
  apply,
  type Expression,
  i32,
  load,
  type Local,
  local,
  locals,
} from '../../wasm/expression.ts';
import {
  call,
  increment,
  loop,
  set,
  type Statement,
  store,
  type WasmFunction,
  when,
} from '../../wasm/statement.ts';
import { intsAttribute } from '../attributes.ts';
import { transposed } from '../linear/pack-panels.wasm.ts';
import type { WasmCall, WasmLowering } from '../wasm-lowering.ts';

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
      const [unit, source, target, width] = locals(4);
      const index = local('i32');
      const strip = apply('i32.rem_u', unit, i32(strips));
      const at = (base: Local, key: 'from' | 'to'): Expression =>
        offsetOf(others, apply('i32.div_u', unit, i32(strips)), key).reduce<Expression>(
          (sum, part) => plus(sum, part),
          plus(base, times(strip, SIDE * column[key] * FLOAT)),
        );
      const edge = (rows: number): Statement => call('edge', [source, target, i32(rows), width]);
      const move: Statement[] = [
        increment(source, SIDE * last.from * FLOAT),
        increment(target, SIDE * FLOAT),
      ];
      return loop({ index: unit, begin: units.first, end: units.end }, [
        set(source, at(from, 'from')),
        set(target, at(output, 'to')),
        set(width, lesser(apply('i32.sub', i32(column.size), times(strip, SIDE)), SIDE)),
        ...when(
          apply('i32.eq', width, i32(SIDE)),
          loop({ index, end: i32(whole) }, [call('square', [source, target, memory]), ...move]),
          loop({ index, end: i32(whole) }, [edge(SIDE), ...move]),
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
    const place = apply('i32.rem_u', apply('i32.div_u', index, i32(inner)), i32(axis.size));
    inner *= axis.size;
    return times(place, axis[key] * FLOAT);
  });
}

/** `square(from, to, memory)`: rows of the input by four into the memory, and from there as rows of the result. */
function squareFunction(row: Axis, column: Axis): WasmFunction {
  const [from, to, memory, index, source, target] = locals(6);
  const quads = Array.from({ length: SIDE / 4 }, (_, i) => i * 4);
  const rowsToMemory = quads.flatMap((at): Statement[] => {
    const statements: Statement[] = [];
    const rows = Array.from({ length: 4 }, (_, i) => {
      const vector = local('v128');
      statements.push(set(vector, load('v128', source, (i * row.from + at) * FLOAT)));
      return vector;
    });
    for (const [i, value] of transposed(rows, statements).entries()) {
      statements.push(store('v128', { address: target, offset: (at + i) * SIDE * FLOAT }, value));
    }
    return statements;
  });
  const memoryToRows = quads.map((at) =>
    store('v128', { address: target, offset: at * FLOAT }, load('v128', source, at * FLOAT)),
  );
  return {
    name: 'square',
    params: [from, to, memory],
    body: [
      set(source, from),
      set(target, memory),
      ...loop({ index, end: i32(quads.length) }, [
        ...rowsToMemory,
        increment(source, 4 * row.from * FLOAT),
        increment(target, 4 * FLOAT),
      ]),
      set(source, memory),
      set(target, to),
      ...loop({ index, end: i32(SIDE) }, [
        ...memoryToRows,
        increment(source, SIDE * FLOAT),
        increment(target, column.to * FLOAT),
      ]),
    ],
  };
}

/** `edge(from, to, rows, columns)`: an oblong, element by element. */
function edgeFunction(row: Axis, column: Axis): WasmFunction {
  const [from, to, rows, columns, i, j] = locals(6);
  const source = plus(from, plus(times(i, row.from * FLOAT), times(j, FLOAT)));
  const target = plus(to, plus(times(i, FLOAT), times(j, column.to * FLOAT)));
  return {
    name: 'edge',
    params: [from, to, rows, columns],
    body: loop({ index: j, end: columns }, [
      ...loop({ index: i, end: rows }, [store('i32', { address: target }, load('i32', source))]),
    ]),
  };
}
