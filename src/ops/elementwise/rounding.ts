import type { OpDefinition } from '../define-op.ts';
import { wgslOperandType } from '../wgsl-literal.ts';
import { defineElementwise } from './elementwise.ts';
import { defineUnary, unaryCases } from './elementwise-unary.ts';
import { FLOATS, NUMERIC } from './number-dtypes.ts';

const HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e10, -3.7];

const ceil = defineUnary({
  name: 'ceil',
  summary: 'The least integer that is not below x, as a float.',
  dtypes: FLOATS,
  range: [-20, 20],
  wgsl: (x) => `ceil(${x})`,
  host: Math.ceil,
});

const round = defineUnary({
  name: 'round',
  summary: 'The nearest integer, as a float; halves go to the even one.',
  dtypes: FLOATS,
  range: [-20, 20],
  wgsl: (x) => `round(${x})`,
  host: roundToEven,
  cases: [{ title: 'halves', inputs: [{ dtype: 'float32', shape: [8], values: HALVES }] }],
});

export function roundToEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return Math.round(x);
  return below % 2 === 0 ? below : below + 1;
}

const sign = defineUnary({
  name: 'sign',
  summary: '-1, 0 or 1. NaN stays NaN.',
  dtypes: NUMERIC,
  wgsl: (x, { output, width }) => {
    const type = wgslOperandType(output, width);
    const positive = `select(${x}, ${type}(1), ${x} > ${type}())`;
    return type.includes('u32') ? positive : `select(${positive}, ${type}(-1), ${x} < ${type}())`;
  },
  host: Math.sign,
  wide: {
    functions: ['i64_sign'],
    wgsl: (x, prefix) =>
      prefix === 'i64'
        ? `i64_sign(${x})`
        : `vec2<u32>(select(0u, 1u, any(${x} != vec2<u32>())), 0u)`,
    host: (x) => (x > 0n ? 1n : x < 0n ? -1n : 0n),
  },
});

interface ClassSpec {
  readonly name: string;
  readonly summary: string;
  readonly wgsl: (bits: string, type: string) => string;
  readonly host: (x: number) => boolean;
}

/** By the bits: implementations may assume that no value is NaN or infinite. */
function defineClass({ name, summary, wgsl, host }: ClassSpec): OpDefinition {
  return defineElementwise({
    name,
    summary,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    output: () => 'bool',
    scalar: {
      wgsl: ([x = ''], { width }) => {
        const type = wgslOperandType('uint32', width);
        return wgsl(`bitcast<${type}>(${x})`, type);
      },
      host: ([x = 0]) => Number(host(x)),
    },
    cases: () => [
      ...unaryCases(FLOATS, undefined),
      {
        title: 'NaN, infinities and what is next to them',
        inputs: [
          {
            dtype: 'float32',
            shape: [7],
            values: [Number.NaN, Infinity, -Infinity, 3.4028234663852886e38, 0, -0, 1],
          },
        ],
      },
    ],
    badCases: () => [{ title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [2] }] }],
  });
}

const isNaNOp = defineClass({
  name: 'is_nan',
  summary: 'Whether x is NaN.',
  wgsl: (bits, type) => `((${bits} & ${type}(0x7fffffffu)) > ${type}(0x7f800000u))`,
  host: Number.isNaN,
});

const isPositiveInfinity = defineClass({
  name: 'is_positive_infinity',
  summary: 'Whether x is plus infinity.',
  wgsl: (bits, type) => `(${bits} == ${type}(0x7f800000u))`,
  host: (x) => x === Infinity,
});

export const ROUNDING_OPS: readonly OpDefinition[] = [
  ceil,
  round,
  sign,
  isNaNOp,
  isPositiveInfinity,
];
