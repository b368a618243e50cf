import { internalError } from '../core/errors.ts';
import { findInstruction } from './instructions.ts';
import type { ValueType } from './value-type.ts';

/** A typed value, as plain immutable data. Evaluated where it stands: what is used twice gets a local. */
export type Expression =
  | Local
  | Constant
  | Operation
  | LaneOperation
  | Load
  | Select
  | Shuffle
  | MultiplyAdd;

/** A variable of the function, or a parameter. */
export interface Local {
  readonly kind: 'local';
  readonly type: ValueType;
  /** Distinct for each; the emitter numbers those that are used. */
  readonly id: symbol;
}

/** A number; of `v128` the 16 bytes. */
export interface Constant {
  readonly kind: 'constant';
  readonly type: ValueType;
  readonly value: number | bigint | Uint8Array;
}

interface Operation {
  readonly kind: 'operation';
  readonly type: ValueType;
  readonly name: string;
  readonly code: readonly number[];
  readonly operands: readonly Expression[];
}

/** An instruction that names a lane: extracts it, or replaces it with a scalar. */
export interface LaneOperation {
  readonly kind: 'lane';
  readonly type: ValueType;
  readonly opcode: number;
  readonly lane: number;
  readonly operands: readonly Expression[];
}

/** Bytes of the linear memory at `address + offset`. */
interface Load {
  readonly kind: 'load';
  readonly type: ValueType;
  readonly width: LoadWidth;
  readonly address: Expression;
  readonly offset: number;
}

/** `whenTrue` if the i32 `condition` is not 0; both are evaluated. */
interface Select {
  readonly kind: 'select';
  readonly type: ValueType;
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression;
}

/** Bytes of two vectors, 0 to 31. */
interface Shuffle {
  readonly kind: 'shuffle';
  readonly type: 'v128';
  readonly left: Expression;
  readonly right: Expression;
  readonly bytes: readonly number[];
}

/** `a * b + c` in lanes of float32: rounded once where the engine has relaxed SIMD, else twice. */
export interface MultiplyAdd {
  readonly kind: 'madd';
  readonly type: 'v128';
  readonly a: Expression;
  readonly b: Expression;
  readonly c: Expression;
}

/** How memory is read: the instruction's opcode, the type it gives, and the bytes that it reads. */
export const LOADS = {
  i32: { code: [0x28], type: 'i32', byteLength: 4 },
  i64: { code: [0x29], type: 'i64', byteLength: 8 },
  f32: { code: [0x2a], type: 'f32', byteLength: 4 },
  f64: { code: [0x2b], type: 'f64', byteLength: 8 },
  i8_s: { code: [0x2c], type: 'i32', byteLength: 1 },
  i8_u: { code: [0x2d], type: 'i32', byteLength: 1 },
  i16_s: { code: [0x2e], type: 'i32', byteLength: 2 },
  i16_u: { code: [0x2f], type: 'i32', byteLength: 2 },
  v128: { code: [0xfd, 0], type: 'v128', byteLength: 16 },
  i8x8_s: { code: [0xfd, 1], type: 'v128', byteLength: 8 },
  i8x8_u: { code: [0xfd, 2], type: 'v128', byteLength: 8 },
  i16x4_s: { code: [0xfd, 3], type: 'v128', byteLength: 8 },
  i16x4_u: { code: [0xfd, 4], type: 'v128', byteLength: 8 },
  splat8: { code: [0xfd, 7], type: 'v128', byteLength: 1 },
  splat16: { code: [0xfd, 8], type: 'v128', byteLength: 2 },
  splat32: { code: [0xfd, 9], type: 'v128', byteLength: 4 },
  splat64: { code: [0xfd, 10], type: 'v128', byteLength: 8 },
  zero32: { code: [0xfd, 92], type: 'v128', byteLength: 4 },
  zero64: { code: [0xfd, 93], type: 'v128', byteLength: 8 },
} as const satisfies Record<string, Access>;

/** How memory is written. */
export const STORES = {
  i32: { code: [0x36], type: 'i32', byteLength: 4 },
  i64: { code: [0x37], type: 'i64', byteLength: 8 },
  f32: { code: [0x38], type: 'f32', byteLength: 4 },
  f64: { code: [0x39], type: 'f64', byteLength: 8 },
  i8: { code: [0x3a], type: 'i32', byteLength: 1 },
  i16: { code: [0x3b], type: 'i32', byteLength: 2 },
  v128: { code: [0xfd, 11], type: 'v128', byteLength: 16 },
} as const satisfies Record<string, Access>;

interface Access {
  readonly code: readonly number[];
  readonly type: ValueType;
  readonly byteLength: number;
}

export type LoadWidth = keyof typeof LOADS;
export type StoreWidth = keyof typeof STORES;

/** A new local; a function has those that it uses. */
export const local = (type: ValueType): Local => ({ kind: 'local', type, id: Symbol(type) });

type Locals<Count extends number, Found extends readonly Local[] = []> = number extends Count
  ? Local[]
  : Found['length'] extends Count
    ? Found
    : Locals<Count, [...Found, Local]>;

/** New locals of one type. */
export function locals<const Count extends number>(count: Count, type: ValueType = 'i32') {
  return Array.from({ length: count }, () => local(type)) as Locals<Count>;
}

export const i32 = (value: number): Constant => ({ kind: 'constant', type: 'i32', value });
export const i64 = (value: bigint): Constant => ({ kind: 'constant', type: 'i64', value });
export const f32 = (value: number): Constant => ({ kind: 'constant', type: 'f32', value });
export const f64 = (value: number): Constant => ({ kind: 'constant', type: 'f64', value });

/** The same number in every lane. */
export function f32x4(value: number): Constant {
  return vector(new Float32Array(4).fill(value));
}

/** The same bits in every lane. */
export function i32x4(value: number): Constant {
  return vector(new Int32Array(4).fill(value));
}

/** 16 bytes. */
export function vector({ buffer, byteOffset, byteLength }: ArrayBufferView): Constant {
  const value = new Uint8Array(buffer, byteOffset, byteLength);
  if (byteLength !== 16) throw internalError(`a vector of ${byteLength} bytes`);
  return { kind: 'constant', type: 'v128', value };
}

/** An instruction by its name in the text format. Sums, products and comparisons of constant integers are folded. */
export function apply(name: string, ...operands: readonly Expression[]): Expression {
  const instruction = findInstruction(name);
  if (instruction === undefined) throw internalError(`no instruction ${name}`);
  const types = operands.map(({ type }) => type);
  if (types.join(' ') !== instruction.operands.join(' ')) {
    throw internalError(`${name} of ${types.join(', ')}`);
  }
  const { code, result: type } = instruction;
  return foldInteger(name, operands) ?? { kind: 'operation', type, name, code, operands };
}

function foldInteger(name: string, [a, b]: readonly Expression[]): Expression | undefined {
  if (a === undefined || b === undefined) return undefined;
  const [x, y] = [integerOf(a), integerOf(b)];
  if (name === 'i32.add') {
    if (x !== undefined && y !== undefined) return i32((x + y) | 0);
    if (x === 0) return b;
    if (y === 0) return a;
    // Constants come together: (a + 1) + 2.
    if (y !== undefined && a.kind === 'operation' && a.name === 'i32.add') {
      const [inner, added] = a.operands;
      const known = added && integerOf(added);
      if (inner !== undefined && known !== undefined)
        return apply(name, inner, i32((known + y) | 0));
    }
  }
  if (name === 'i32.sub' && y !== undefined) return apply('i32.add', a, i32(-y | 0));
  if (name === 'i32.mul') {
    if (x !== undefined && y !== undefined) return i32(Math.imul(x, y));
    if (x === 0 || y === 0) return i32(0);
    if (x === 1) return b;
    if (y === 1) return a;
    if (y !== undefined && isPowerOfTwo(y)) return apply('i32.shl', a, i32(Math.log2(y)));
  }
  if (name === 'i32.lt_s' && x !== undefined && y !== undefined) return i32(Number(x < y));
  if (name === 'i32.gt_s' && x !== undefined && y !== undefined) return i32(Number(x > y));
  if (y === undefined || y <= 0) return undefined;
  if (name === 'i32.div_u') {
    if (y === 1) return a;
    if (x !== undefined) return i32(Math.floor((x >>> 0) / y) | 0);
    if (isPowerOfTwo(y)) return apply('i32.shr_u', a, i32(Math.log2(y)));
  }
  if (name === 'i32.rem_u') {
    if (y === 1) return i32(0);
    if (x !== undefined) return i32(((x >>> 0) % y) | 0);
    if (isPowerOfTwo(y)) return apply('i32.and', a, i32(y - 1));
  }
  return undefined;
}

const isPowerOfTwo = (value: number): boolean => value > 0 && (value & (value - 1)) === 0;

export function integerOf(expression: Expression): number | undefined {
  if (expression.kind !== 'constant' || expression.type !== 'i32') return undefined;
  return Number(expression.value);
}

/** A read of memory. A constant that is added to the address becomes the instruction's own. */
export function load(width: LoadWidth, address: Expression, offset = 0): Load {
  const place = withOffset(address, offset);
  return { kind: 'load', type: LOADS[width].type, width, ...place };
}

/** An address and a constant that is no less than 0. */
export function withOffset(
  address: Expression,
  offset: number,
): { readonly address: Expression; readonly offset: number } {
  if (address.kind === 'operation' && address.name === 'i32.add') {
    const [base, added] = address.operands;
    const known = added && integerOf(added);
    if (base !== undefined && known !== undefined && known >= 0) {
      return { address: base, offset: offset + known };
    }
  }
  const known = integerOf(address);
  if (known !== undefined && known >= 0) return { address: i32(0), offset: offset + known };
  return { address, offset };
}

/** One of two values of a type; the one that a known condition chooses. */
export function select(
  condition: Expression,
  whenTrue: Expression,
  whenFalse: Expression,
): Expression {
  if (whenTrue.type !== whenFalse.type || condition.type !== 'i32') {
    throw internalError(`a choice of ${whenTrue.type} and ${whenFalse.type} by ${condition.type}`);
  }
  const known = integerOf(condition);
  if (known !== undefined) return known === 0 ? whenFalse : whenTrue;
  return { kind: 'select', type: whenTrue.type, condition, whenTrue, whenFalse };
}

/** Opcodes that give one lane, by the lanes that a vector is taken for. */
export const EXTRACTS = {
  i8x16_s: 21,
  i8x16_u: 22,
  i16x8_s: 24,
  i16x8_u: 25,
  i32x4: 27,
  i64x2: 29,
  f32x4: 31,
  f64x2: 33,
};
const SCALARS: Readonly<Record<keyof typeof EXTRACTS, ValueType>> = {
  i8x16_s: 'i32',
  i8x16_u: 'i32',
  i16x8_s: 'i32',
  i16x8_u: 'i32',
  i32x4: 'i32',
  i64x2: 'i64',
  f32x4: 'f32',
  f64x2: 'f64',
};

export function lane(lanes: keyof typeof EXTRACTS, value: Expression, index: number): Expression {
  return {
    kind: 'lane',
    type: SCALARS[lanes],
    opcode: EXTRACTS[lanes],
    lane: index,
    operands: [value],
  };
}

/** Opcodes that replace one lane. */
export const REPLACES = { i32x4: 28, i64x2: 30, f32x4: 32, f64x2: 34 };

/** A vector with another value in one lane. */
export function withLane(
  lanes: keyof typeof REPLACES,
  value: Expression,
  { index, scalar }: { readonly index: number; readonly scalar: Expression },
): Expression {
  return {
    kind: 'lane',
    type: 'v128',
    opcode: REPLACES[lanes],
    lane: index,
    operands: [value, scalar],
  };
}

/** {@link MultiplyAdd}. */
export function multiplyAdd(a: Expression, b: Expression, c: Expression): MultiplyAdd {
  return { kind: 'madd', type: 'v128', a, b, c };
}

/** Bytes of two vectors in a new order. */
export function shuffle(left: Expression, right: Expression, bytes: readonly number[]): Expression {
  return { kind: 'shuffle', type: 'v128', left, right, bytes };
}

/** {@link shuffle} by lanes of 32 bits, 0 to 7. */
export function shuffle32(
  left: Expression,
  right: Expression,
  lanes: readonly number[],
): Expression {
  const bytes: number[] = [];
  for (const index of lanes) for (let byte = 0; byte < 4; byte++) bytes.push(index * 4 + byte);
  return shuffle(left, right, bytes);
}
