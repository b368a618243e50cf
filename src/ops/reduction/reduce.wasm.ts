import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/tensor/shape.ts';
import { apply, type Expression, f32x4, i32x4, type Local, local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { call, increment, set, type Statement } from '../../wasm/statement.ts';
import { loopNest } from '../convolution/tap-nest.wasm.ts';
import { elementAccess } from '../lowering/element-access.ts';
import { isLess, type ScalarAccess, scalarAccess } from '../lowering/scalar-access.wasm.ts';
import type { WasmCall, WasmKernel, WasmLowering } from '../lowering/wasm-lowering.ts';
import { type Accumulator, accumulator } from './accumulator.wasm.ts';
import { reducedAxes, type ReduceName } from './reduce.ts';
import type { Reduction } from './reduction-wgsl.ts';
import { rowKernel } from './row-loops.wasm.ts';
import { type Combine, RowWalk } from './row-walk.wasm.ts';

const reduceWasm =
  (name: ReduceName, kind: Reduction): WasmLowering =>
  (call) => {
    const axes = reducedAxes(call.attributes, call.inputs[0]?.shape.length ?? 0, name);
    return reduceKernel(kind, axes, call) ?? scalarReduceKernel(kind, axes, call);
  };

/** Joins the elements along some axes; undefined where these do not lie next to each other. */
export function reduceKernel(
  kind: Reduction,
  axes: ReadonlySet<number>,
  { inputs: [x], output }: WasmCall,
): WasmKernel | undefined {
  const access = x && elementAccess(x.dtype);
  if (x === undefined || access === undefined) return undefined;
  const isFloat = dtypeInfo(x.dtype).category === 'float';
  if (kind === 'mean' && !isFloat) return undefined;
  const rows = rowsOf(x.shape, axes);
  if (rows === undefined) return undefined;
  const { byteLength } = access;
  const problem = { ...rows, elementBytes: [byteLength, byteLength] as const, resultSize: 1 };
  return rowKernel(problem, (shape, from, to) => {
    const total = local('v128');
    const walk = new RowWalk(shape);
    const isSum = isFloat && (kind === 'sum' || kind === 'mean');
    const identity = identityOf(kind, output.dtype);
    const mean = kind === 'mean' ? [set(total, apply('f32x4.div', total, f32x4(rows.size)))] : [];
    return [
      ...walk.fold(from, total, access, { combine: combiner(kind, output.dtype), identity, isSum }),
      ...mean,
      ...access.write(to, 0, { value: total, count: shape.rows }),
    ];
  });
}

/** Undefined where the axes do not lie next to each other. */
function rowsOf(
  shape: readonly number[],
  axes: ReadonlySet<number>,
): { readonly outer: number; readonly size: number; readonly inner: number } | undefined {
  const reduced = [...axes].filter((axis) => shape[axis] !== 1).sort((a, b) => a - b);
  const [first = shape.length, last = shape.length - 1] = [reduced[0], reduced.at(-1)];
  const between = shape.slice(first, last + 1);
  if (between.some((size, i) => size !== 1 && !axes.has(first + i))) return undefined;
  return {
    outer: elementCount(shape.slice(0, first)),
    size: elementCount(between),
    inner: elementCount(shape.slice(last + 1)),
  };
}

function combiner(kind: Reduction, dtype: DType): Combine {
  const { category } = dtypeInfo(dtype);
  const lanes = category === 'float' ? 'f32x4' : 'i32x4';
  const sign = category === 'float' ? '' : category === 'uint' ? '_u' : '_s';
  const names = { sum: 'add', mean: 'add', prod: 'mul', max: `max${sign}`, min: `min${sign}` };
  return (a, b) => apply(`${lanes}.${names[kind]}`, a, b);
}

function identityOf(kind: Reduction, dtype: DType): Expression {
  const { category, byteLength } = dtypeInfo(dtype);
  if (category === 'float') {
    const ends = { sum: 0, mean: 0, prod: 1, max: -Infinity, min: Infinity };
    return f32x4(ends[kind]);
  }
  const range = 2 ** (8 * byteLength);
  const [least, most] = category === 'int' ? [-range / 2, range / 2 - 1] : [0, range - 1];
  const ends = { sum: 0, mean: 0, prod: 1, max: least, min: most };
  return i32x4(ends[kind]);
}

/** Joins the elements along any axes one by one, those of floats in double precision. */
function scalarReduceKernel(
  kind: Reduction,
  axes: ReadonlySet<number>,
  { inputs: [x], output }: WasmCall,
): WasmKernel | undefined {
  const access = x && scalarAccess(x.dtype);
  if (x === undefined || access === undefined) return undefined;
  const { byteLength } = access;
  const strides = rowMajorStrides(x.shape).map((stride) => stride * byteLength);
  const dims = x.shape.map((size, axis) => ({ size, steps: [strides[axis] ?? 0], axis }));
  const kept = dims.filter(({ axis }) => !axes.has(axis));
  const reduced = dims.filter(({ axis }) => axes.has(axis));
  const count = elementCount(reduced.map(({ size }) => size));
  const [from, to, row] = w.locals(3);
  const sums = accumulator(access);
  const total = w.local(sums.type);
  const joined = ([pointer = from]: readonly Local[]): Statement[] => [
    set(total, combine(kind, { access, sums }, [total, sums.widen(access.read(pointer))])),
  ];
  return {
    functions: [
      {
        name: 'reduce',
        params: [from, to],
        body: [
          set(total, identity(kind, output.dtype, sums)),
          ...loopNest(reduced, [from], joined),
          ...(kind === 'mean' ? [set(total, meanOf(total, count, access))] : []),
          ...access.write(to, sums.narrow(total)),
        ],
      },
    ],
    body({ inputs: [place], output: target }) {
      if (place === undefined || elementCount(output.shape) === 0) return [];
      return [
        set(row, target),
        ...loopNest(kept, [place], ([pointer = place]) => [
          call('reduce', [pointer, row]),
          increment(row, byteLength),
        ]),
      ];
    },
  };
}

function combine(
  kind: Reduction,
  { access, sums }: { readonly access: ScalarAccess; readonly sums: Accumulator },
  [a, b]: readonly [Local, Expression],
): Expression {
  const { type } = sums;
  if (kind === 'sum' || kind === 'mean') return w.apply(`${type}.add`, a, b);
  if (kind === 'prod') return w.apply(`${type}.mul`, a, b);
  if (type === 'f64') return w.apply(`f64.${kind}`, a, b);
  const [x, y] = kind === 'min' ? [b, a] : [a, b];
  // The second stays unless the other is beyond it.
  return w.select(isLess(access, x, y), b, a);
}

function identity(kind: Reduction, dtype: DType, sums: Accumulator): Expression {
  if (kind === 'prod') return sums.constant(1);
  if (kind === 'sum' || kind === 'mean') return sums.constant(0);
  if (sums.type === 'f64') return w.f64(kind === 'max' ? -Infinity : Infinity);
  const { category, byteLength } = dtypeInfo(dtype);
  const bits = BigInt(8 * byteLength);
  const isSigned = category === 'int';
  const least = isSigned ? -(2n ** (bits - 1n)) : 0n;
  const most = isSigned ? 2n ** (bits - 1n) - 1n : 2n ** bits - 1n;
  const end = kind === 'max' ? least : most;
  return sums.type === 'i64' ? w.i64(end) : w.i32(Number(BigInt.asIntN(32, end)));
}

/** The mean: of integers rounded towards zero, of no elements 0. */
function meanOf(total: Local, count: number, { type, isSigned }: ScalarAccess): Expression {
  if (type === 'f32' || type === 'f64') return w.apply('f64.div', total, w.f64(count));
  if (count === 0) return total;
  const divisor = type === 'i64' ? w.i64(BigInt(count)) : w.i32(count);
  return w.apply(`${type}.div_${isSigned ? 's' : 'u'}`, total, divisor);
}

export const REDUCE_WASM = {
  reduce_sum: reduceWasm('reduce_sum', 'sum'),
  reduce_mean: reduceWasm('reduce_mean', 'mean'),
  reduce_prod: reduceWasm('reduce_prod', 'prod'),
  reduce_max: reduceWasm('reduce_max', 'max'),
  reduce_min: reduceWasm('reduce_min', 'min'),
};
