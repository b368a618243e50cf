import type { Expression } from '../../../wasm/expression.ts';
import * as w from '../../../wasm/expression.ts';
import type { ScalarType } from '../scalar-type.ts';

/** Four elements: one vector of 32-bit lanes, or two of 64-bit ones. A bool is a lane of ones or zeros. */
export type Lanes = readonly Expression[];

export const isWideLanes = (type: ScalarType): boolean =>
  type === 'f64' || type === 'i64' || type === 'u64';

/** The prefix of the instructions of a type. */
export function lanesName(type: ScalarType): 'f32x4' | 'f64x2' | 'i32x4' | 'i64x2' {
  if (type === 'f32') return 'f32x4';
  if (type === 'f64') return 'f64x2';
  return type === 'i64' || type === 'u64' ? 'i64x2' : 'i32x4';
}

/** The same number in every lane of a vector. */
export function splat(type: ScalarType, value: number): Expression {
  if (type === 'f32') return w.f32x4(value);
  if (type === 'f64') return w.vector(new Float64Array(2).fill(value));
  if (!isWideLanes(type)) return w.i32x4(type === 'bool' && value !== 0 ? -1 : value);
  return w.vector(new BigInt64Array(2).fill(BigInt.asIntN(64, BigInt(Math.trunc(value)))));
}

type Vectors<T extends readonly Lanes[]> = { readonly [K in keyof T]: Expression };

export function mapLanes<const T extends readonly Lanes[]>(
  compute: (...vectors: Vectors<T>) => Expression,
  ...operands: T
): Lanes {
  const [first = []] = operands;
  return first.map((_, part) =>
    // A vector for each operand.
    compute(...(operands.map((operand) => operand[part]) as unknown as Vectors<T>)),
  );
}

/** The low halves of 64-bit lanes; of masks the masks of 32-bit lanes. */
export function narrowed([low = w.i32x4(0), high = w.i32x4(0)]: Lanes): Expression {
  return w.shuffle32(low, high, [0, 2, 4, 6]);
}

/** Masks of 64-bit lanes from those of 32-bit ones. */
export const widenedMask = (mask: Expression): Lanes => [
  w.shuffle32(mask, mask, [0, 0, 1, 1]),
  w.shuffle32(mask, mask, [2, 2, 3, 3]),
];

/** The lower and the upper half of 32-bit lanes, by an instruction that takes the lower. */
export const widened = (name: string, value: Expression): Lanes => [
  w.apply(name, value),
  w.apply(name, w.shuffle32(value, value, [2, 3, 2, 3])),
];

/** 64-bit lanes as 32-bit ones, by an instruction that gives the lower two. */
export function halved(name: string, value: Lanes): Expression {
  const [low = w.i32x4(0), high = w.i32x4(0)] = value.map((part) => w.apply(name, part));
  return w.shuffle32(low, high, [0, 1, 4, 5]);
}

function element(type: ScalarType, value: Lanes, index: number): Expression {
  const [part, at] = isWideLanes(type) ? [index >> 1, index & 1] : [0, index];
  return w.lane(lanesName(type), value[part] ?? w.i32x4(0), at);
}

/** Lane by lane, from one type to another. The operands are evaluated for each lane. */
export function byElements(
  types: { readonly from: ScalarType; readonly to: ScalarType },
  compute: (...elements: readonly Expression[]) => Expression,
  ...operands: readonly Lanes[]
): Lanes {
  const { from, to } = types;
  const perVector = isWideLanes(to) ? 2 : 4;
  return Array.from({ length: 4 / perVector }, (_, part) => {
    let result: Expression = w.i32x4(0);
    for (let index = 0; index < perVector; index++) {
      const at = part * perVector + index;
      const scalar = compute(...operands.map((operand) => element(from, operand, at)));
      result = w.withLane(lanesName(to), result, { index, scalar });
    }
    return result;
  });
}
