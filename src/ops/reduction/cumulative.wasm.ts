import { normalizeAxis } from '../../core/tensor/shape.ts';
import { plus } from '../../wasm/address.ts';
import { apply, i32, local } from '../../wasm/expression.ts';
import { increment, loop, set } from '../../wasm/statement.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { scalarAccess } from '../lowering/scalar-access.wasm.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import { accumulator } from './accumulator.wasm.ts';
import { scalarRowKernel, scalarRows } from './scalar-rows.wasm.ts';

/** Running sums and products of rows; those of floats in double precision. */
export const cumulativeWasm: WasmLowering = ({ inputs: [x], attributes }) => {
  const access = x && scalarAccess(x.dtype);
  if (x === undefined || access === undefined) return undefined;
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, 'cumulative');
  const size = x.shape[axis] ?? 1;
  const { byteLength } = access;
  const rows = scalarRows(x.shape, axis, { byteLength, results: [size, byteLength] });
  const { inner } = rows;
  const isReverse = boolAttribute(attributes, 'reverse');
  const isProduct = boolAttribute(attributes, 'product');
  const sums = accumulator(access);
  return scalarRowKernel(rows, (from, to) => {
    const [total, next, index] = [local(sums.type), local(sums.type), local('i32')];
    const step = (isReverse ? -1 : 1) * inner * byteLength;
    const last = isReverse ? (size - 1) * inner * byteLength : 0;
    const combined = apply(
      `${sums.type}.${isProduct ? 'mul' : 'add'}`,
      total,
      sums.widen(access.read(from)),
    );
    const written = boolAttribute(attributes, 'exclusive') ? total : next;
    return [
      set(from, plus(from, last)),
      set(to, plus(to, last)),
      set(total, sums.constant(isProduct ? 1 : 0)),
      ...loop({ index, end: i32(size) }, [
        set(next, combined),
        ...access.write(to, sums.narrow(written)),
        set(total, next),
        increment(from, step),
        increment(to, step),
      ]),
    ];
  });
};
