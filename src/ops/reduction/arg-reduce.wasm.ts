import { normalizeAxis } from '../../core/tensor/shape.ts';
import { apply, i32, local } from '../../wasm/expression.ts';
import { increment, loop, set, store, when } from '../../wasm/statement.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { comesBefore, scalarAccess } from '../lowering/scalar-access.wasm.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import type { ArgReduceName, Extreme } from './arg-reduce.ts';
import { scalarRowKernel, scalarRows } from './scalar-rows.wasm.ts';

export const argReduceWasm =
  (name: ArgReduceName, extreme: Extreme): WasmLowering =>
  ({ inputs: [x], attributes }) => {
    const access = x && scalarAccess(x.dtype);
    if (x === undefined || access === undefined) return undefined;
    const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, name);
    const size = x.shape[axis] ?? 1;
    const { byteLength, type } = access;
    const order = { first: extreme === 'max' ? 'greatest' : 'least', nan: 'first' } as const;
    const rows = scalarRows(x.shape, axis, { byteLength, results: [1, 8] });
    return scalarRowKernel(rows, (from, to) => {
      const [best, next, place, index] = [local(type), local(type), local('i32'), local('i32')];
      const isBetter = comesBefore(access, [next, best], order);
      const isEqual = apply('i32.eqz', comesBefore(access, [best, next], order));
      const isTaken = boolAttribute(attributes, 'select_last')
        ? apply('i32.or', isBetter, isEqual)
        : isBetter;
      return [
        set(best, access.read(from)),
        set(place, i32(0)),
        ...loop({ index, begin: i32(1), end: i32(size) }, [
          increment(from, rows.inner * byteLength),
          set(next, access.read(from)),
          ...when(isTaken, [set(best, next), set(place, index)]),
        ]),
        store('i64', { address: to }, apply('i64.extend_i32_s', place)),
      ];
    });
  };
