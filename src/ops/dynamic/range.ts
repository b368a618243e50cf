import { MAX_DIMENSION } from '../../core/dim.ts';
import type { DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { isSmallFloat, numberToSmallFloat } from '../../core/small-floats.ts';
import { stringAttribute } from '../attributes.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { commonDType, operand, present } from '../operand-checks.ts';
import { COMPARED_DTYPES, comparedElements } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

const DTYPES = COMPARED_DTYPES.filter((dtype) => dtype !== 'bool');

/** start, start + delta, start + 2 delta, … as far as they lie before limit. */
export const range: OpDefinition = defineDynamicOp({
  name: 'range',
  summary: 'Numbers from start on by delta, those before limit; all three are single elements.',
  inputs: ['start', 'limit', 'delta'].map((name) => ({ name, dtypes: DTYPES })),
  attributes: { where: { type: 'string', default: 'range' } },
  infer(inputs, attributes, dims) {
    const where = stringAttribute(attributes, 'where');
    for (const { shape } of present(inputs)) {
      for (const dim of shape) {
        dims.requireEqual(dim, dims.of(1), () => ({
          where,
          got: 'a bound of several elements',
          expected: 'single elements',
        }));
      }
    }
    return { dtype: commonDType(present(inputs), where), shape: [dims.unknown()] };
  },
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
  cases: () => [
    rangeCase('float32', [0, 2, 0.25]),
    rangeCase('float32', [1, 0, 1]),
    rangeCase('int32', [10, 4, -3]),
    rangeCase('uint32', [3, 9, 2]),
    rangeCase('int64', [-2, 3, 1]),
    rangeCase('float16', [0, 1, 0.25]),
    // The bits of 3, -1 and -0.5.
    rangeCase('bfloat16', [0x4040, 0xbf80, 0xbf00]),
    { ...rangeCase('int32', [0, 5, 1]), title: 'named', attributes: { where: 'a node' } },
  ],
  badCases: () => [
    {
      title: 'two starts',
      inputs: [2, 1, 1].map((size) => ({ dtype: 'int32', shape: [size], values: [] })),
    },
    { title: 'no delta', inputs: [0, 1].map(() => ({ dtype: 'int32', shape: [] })) },
  ],
});

function rangeCase(dtype: DType, values: readonly number[]): OpCase {
  return {
    title: `${dtype} ${values.join(', ')}`,
    inputs: values.map((value) => ({ dtype, shape: [], values: [value] })),
  };
}

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
