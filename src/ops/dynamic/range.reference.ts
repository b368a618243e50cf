import { MAX_DIMENSION } from '../../core/dim.ts';
import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { isSmallFloat, numberToSmallFloat } from '../../core/small-floats.ts';
import { stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { comparedElements } from './compared-elements.ts';
import type { DynamicReference } from '../op-reference.ts';

export const rangeReference: DynamicReference = {
  compute(inputs, attributes) {
    const [start = 0, limit = 0, delta = 0] = [0, 1, 2].map(
      (i) => comparedElements(operand(inputs, i))[0],
    );
    const where = stringAttribute(attributes, 'where');
    const count = countOf({ start, limit, delta }, where);
    const { dtype } = operand(inputs, 0);
    return typeof start === 'bigint' && typeof delta === 'bigint'
      ? HostTensor.from(
          dtype,
          [count],
          Array.from({ length: count }, (_, i) => start + BigInt(i) * delta),
        )
      : numbersFrom(dtype, { start: Number(start), delta: Number(delta), count });
  },
};

type Bounds<T> = Readonly<Record<'start' | 'limit' | 'delta', T>>;

function countOf({ start, limit, delta }: Bounds<number | bigint>, where: string): number {
  const isExact = typeof limit === 'bigint' && typeof start === 'bigint';
  const span = isExact ? Number(limit - start) : Number(limit) - Number(start);
  const steps = Math.ceil(span / Number(delta));
  // A difference of nothing has no steps, whatever their size.
  const count = span === 0 && Number(delta) !== 0 ? 0 : Math.max(steps, 0);
  if (Number(delta) !== 0 && count <= MAX_DIMENSION) return count;
  throw new ShapeError({
    where,
    got: `a range from ${start} to ${limit} by ${delta}`,
    expected: `a delta that is not 0 and at most ${MAX_DIMENSION} elements`,
  });
}

interface Progression {
  readonly start: number;
  readonly delta: number;
  readonly count: number;
}

function numbersFrom(dtype: DType, { start, delta, count }: Progression): HostTensor {
  const rounding = { saturate: false, roundMode: 'nearest' };
  const stored = (value: number): number =>
    isSmallFloat(dtype) ? numberToSmallFloat(dtype, value, rounding) : value;
  const values = Array.from({ length: count }, (_, i) => stored(start + i * delta));
  return HostTensor.from(dtype, [count], values);
}
