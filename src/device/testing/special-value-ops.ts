import type { DType } from '../../core/tensor/dtype.ts';
import type { InputSpec, OpDefinition } from '../../ops/define-op.ts';
import type { OpCase } from '../../ops/op-cases.ts';
import { KERNEL_FAMILIES } from '../../ops/tables/kernel-ops.ts';
import { type TestedOp, testedOp } from '../../ops/testing/tested-ops.ts';

const VALUES = [
  Number.NaN,
  Infinity,
  -Infinity,
  0,
  -0,
  1,
  -1,
  0.5,
  -2.5,
  3,
  1e-30,
  -100,
  3.4028234663852886e38,
];

/** Every pair of values, or every value, as float32 tensors. */
function specialCase(op: OpDefinition): OpCase {
  const isBinary = op.inputs.length === 2;
  const repeat = isBinary ? VALUES.length : 1;
  const shape = [VALUES.length * repeat];
  const firsts = VALUES.flatMap((value) => Array.from({ length: repeat }, () => value));
  const seconds = Array.from({ length: repeat }, () => VALUES).flat();
  return {
    title: 'NaN, infinities, zeros and ends of the range',
    inputs: [firsts, ...(isBinary ? [seconds] : [])].map((values) => ({
      dtype: 'float32',
      shape,
      values,
    })),
    attributes: 'to' in op.attributes ? { to: 'int32' } : {},
  };
}

const takesFloats = ({ inputs }: OpDefinition) =>
  inputs.length <= 2 && inputs.every(({ dtypes }) => dtypes.includes('float32'));

const rows: readonly OpCase[] = [
  {
    title: 'rows with NaN, infinities, both and neither',
    inputs: [
      {
        dtype: 'float32',
        shape: [5, 3],
        values: [
          1,
          Number.NaN,
          2,
          Infinity,
          0,
          1,
          -Infinity,
          3,
          4,
          Infinity,
          Number.NaN,
          0,
          3,
          4,
          5,
        ],
      },
    ],
    attributes: { axes: [1] },
  },
];

/** Four rows of 16: finite ones, and such with a NaN, an infinity, both infinities. */
const fours: readonly OpCase[] = [0, 1].map((axis) => {
  const values = Array.from({ length: 64 }, (_, i) => (i % 7) - 2);
  values[21] = Number.NaN;
  values[37] = -Infinity;
  values[50] = Infinity;
  values[54] = -Infinity;
  return {
    title: `read four at a time, over axis ${axis}`,
    inputs: [{ dtype: 'float32', shape: [4, 16], values }],
    attributes: { axes: [axis] },
  };
});

/** The operator with some cases in place of its own, for float32 only: integers have no NaN. */
function withOnly(op: TestedOp, cases: readonly OpCase[]): TestedOp {
  const inputs = op.inputs.map((input): InputSpec => ({ ...input, dtypes: ['float32'] }));
  return { ...op, inputs, cases: () => cases };
}

/** Rows that are NaN: one with infinity, one with NaN, and one with nothing but minus infinity. */
function nanRows(dtype: DType, size: number): OpCase {
  const values = Array.from({ length: 4 * size }, (_, i) => (i < 3 * size ? i % 5 : -Infinity));
  values[1] = Infinity;
  values[size + 2] = Number.NaN;
  return {
    title: `rows of ${size} that are NaN, ${dtype}`,
    inputs: [{ dtype, shape: [4, size], values }],
  };
}

/** Rows whose largest element is a zero, of either sign. */
function zeroRows(size: number): OpCase {
  const signs = [0, -0, -0, 0, -1, -0];
  const values = Array.from({ length: 6 * size }, (_, i) => signs[(i + Math.floor(i / size)) % 6]);
  return {
    title: `rows of ${size} with zeros of both signs`,
    inputs: [{ dtype: 'float32', shape: [6, size], values: values.map(Number) }],
  };
}

/** Whole powers that a float32 holds: those of whole numbers, and of two also downwards. */
const wholePowers = [2, 3, 5, 6, 7, 10, 11, -3, -6, 129, 4095, 0.5, -0.25].flatMap((base) =>
  Array.from({ length: 253 }, (_, i) => [base, i - 126] as const).filter(([, exponent]) => {
    const power = base ** exponent;
    return Math.fround(power) === power && Math.abs(power) >= 2 ** -126 && isExact(base, exponent);
  }),
);

function isExact(base: number, exponent: number): boolean {
  return (
    Math.log2(Math.abs(base)) % 1 === 0 || (exponent >= 0 && Math.abs(base) ** exponent < 2 ** 24)
  );
}

const POWERS: OpCase = {
  title: 'whole powers to the last bit',
  inputs: [0, 1].map((i) => ({
    dtype: 'float32',
    shape: [wholePowers.length],
    values: wholePowers.map((pair) => pair[i] ?? 0),
  })),
};

export const SPECIAL_VALUE_OPS: readonly TestedOp[] = [
  { ...withOnly(testedOp('pow'), [POWERS]), tolerance: { rtol: 0, atol: 0 } },
  ...['softmax', 'log_softmax'].map((name) => ({
    ...testedOp(name),
    cases: () =>
      [2, 3, 8, 300, 65_540].flatMap((size) => [
        nanRows('float32', size),
        nanRows('float16', size),
        zeroRows(size),
      ]),
  })),
  ...KERNEL_FAMILIES.elementwise
    .filter(takesFloats)
    .map((op) => withOnly(testedOp(op.name), [specialCase(op)])),
  ...KERNEL_FAMILIES.reduction
    .filter(({ attributes }) => 'axes' in attributes)
    .map((op) => withOnly(testedOp(op.name), [...rows, ...fours])),
];
