import { dtypeInfo, type DType } from '../../core/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/shape.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { call, increment, set, type Statement } from '../../wasm/statement.ts';
import { isLess, scalarAccess, type ScalarAccess } from '../scalar-access.wasm.ts';
import type { WasmCall, WasmKernel } from '../wasm-lowering.ts';
import { type Accumulator, accumulator } from './accumulator.wasm.ts';
import type { Reduction } from './reduction-wgsl.ts';
import { loopNest } from '../convolution/tap-nest.wasm.ts';

/** Joins the elements along any axes one by one, those of floats in double precision. */
export function scalarReduceKernel(
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
