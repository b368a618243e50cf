import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import type { Expression, LoadWidth, StoreWidth } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { type Statement, store } from '../../wasm/statement.ts';
import type { ValueType } from '../../wasm/value-type.ts';
import { type ElementAccess, elementAccess } from './element-access.ts';

/** One element of a dtype in memory as a value: 16-bit floats are f32, bools and short integers i32. */
export interface ScalarAccess {
  readonly byteLength: number;
  readonly type: Exclude<ValueType, 'v128'>;
  readonly isSigned: boolean;
  read(address: Expression, offset?: number): Expression;
  /** `value` is evaluated more than once. */
  write(address: Expression, value: Expression, offset?: number): Statement[];
}

/** Undefined for floats of 8 bits or less. */
export function scalarAccess(dtype: DType): ScalarAccess | undefined {
  const { category } = dtypeInfo(dtype);
  const isSigned = category === 'int' || category === 'float';
  const width = WIDTHS[dtype];
  if (width !== undefined) {
    const [read, written, type, byteLength] = width;
    return {
      byteLength,
      type,
      isSigned,
      read: (address, offset = 0) => w.load(read, address, offset),
      write: (address, value, offset = 0) => [store(written, { address, offset }, value)],
    };
  }
  const access = elementAccess(dtype);
  return access && ofFirstLane(access, { isSigned, isFloat: category === 'float' });
}

type Width = readonly [LoadWidth, StoreWidth, ScalarAccess['type'], number];

const WIDTHS: Readonly<Partial<Record<DType, Width>>> = {
  float32: ['f32', 'f32', 'f32', 4],
  int32: ['i32', 'i32', 'i32', 4],
  uint32: ['i32', 'i32', 'i32', 4],
  bool: ['i32', 'i32', 'i32', 4],
  int8: ['i8_s', 'i8', 'i32', 1],
  uint8: ['i8_u', 'i8', 'i32', 1],
  int16: ['i16_s', 'i16', 'i32', 2],
  uint16: ['i16_u', 'i16', 'i32', 2],
  float64: ['f64', 'f64', 'f64', 8],
  int64: ['i64', 'i64', 'i64', 8],
  uint64: ['i64', 'i64', 'i64', 8],
};

function ofFirstLane(
  access: ElementAccess,
  { isSigned, isFloat }: { readonly isSigned: boolean; readonly isFloat: boolean },
): ScalarAccess {
  const lanes = isFloat ? 'f32x4' : 'i32x4';
  return {
    byteLength: access.byteLength,
    type: isFloat ? 'f32' : 'i32',
    isSigned,
    read: (address, offset = 0) => w.lane(lanes, access.read(address, offset, 1), 0),
    write: (address, value, offset = 0) =>
      access.write(address, offset, { value: w.apply(`${lanes}.splat`, value), count: 1 }),
  };
}

/** The condition a < b. */
export function isLess({ type, isSigned }: ScalarAccess, a: Expression, b: Expression): Expression {
  if (type === 'f32' || type === 'f64') return w.apply(`${type}.lt`, a, b);
  return w.apply(`${type}.lt_${isSigned ? 's' : 'u'}`, a, b);
}

/**
 * The condition that a comes before b, where the least or the greatest number comes first, and NaN
 * before or after all numbers.
 */
export function comesBefore(
  access: ScalarAccess,
  [a, b]: readonly [Expression, Expression],
  order: { readonly first: 'least' | 'greatest'; readonly nan: 'first' | 'last' },
): Expression {
  const before = order.first === 'least' ? isLess(access, a, b) : isLess(access, b, a);
  const { type } = access;
  if (type !== 'f32' && type !== 'f64') return before;
  const isNaN = (x: Expression) => w.apply(`${type}.ne`, x, x);
  const isNumber = (x: Expression) => w.apply(`${type}.eq`, x, x);
  const [nan, number] = order.nan === 'first' ? [a, b] : [b, a];
  return w.apply('i32.or', before, w.apply('i32.and', isNaN(nan), isNumber(number)));
}
