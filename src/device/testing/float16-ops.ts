import { float16ToNumber } from '../../core/tensor/float16.ts';
import type { OpCase } from '../../ops/op-cases.ts';
import { type TestedOp, testedOp } from '../../ops/testing/tested-ops.ts';

/** Every value of binary16 except all NaN but one. */
const HALVES = Array.from({ length: 0x10000 }, (_, bits) => float16ToNumber(bits)).filter(
  (value, bits) => !Number.isNaN(value) || bits === 0x7e00,
);

/** Numbers in the middle of two neighbours of binary16, and the next of float32 on either side. */
const MIDDLES = HALVES.flatMap((value, i) => {
  const next = HALVES[i + 1];
  if (next === undefined || !Number.isFinite(value) || Math.abs(next) <= Math.abs(value)) return [];
  const end = Number.isFinite(next) ? next : Math.sign(value) * 65536;
  const middle = (value + end) / 2;
  const step = 2 ** (Math.floor(Math.log2(Math.abs(middle))) - 23);
  return [middle - step, middle, middle + step];
});

/**
 * Two cases of the operator, one in whole vectors of four, one with an odd count, element by
 * element.
 */
function bothWidths(title: string, opCase: OpCase, values: readonly number[]): OpCase[] {
  const whole = values.slice(0, values.length - (values.length % 4));
  return [whole, whole.slice(1)].map((part) => ({
    ...opCase,
    title: `${title}, ${part.length} elements`,
    inputs: opCase.inputs.map((input) => input && { ...input, shape: [part.length], values: part }),
  }));
}

function exactly(name: string, cases: readonly OpCase[]): TestedOp {
  return { ...testedOp(name), cases: () => cases, tolerance: { rtol: 0, atol: 0 } };
}

const input = (dtype: 'float16' | 'float32') => ({ title: '', inputs: [{ dtype, shape: [0] }] });

/** Bits that are read, rounded and stored as float16. */
export const FLOAT16_OPS: readonly TestedOp[] = [
  exactly('neg', bothWidths('every float16', input('float16'), HALVES)),
  exactly('cast', [
    ...bothWidths(
      'every float16 as float32',
      { ...input('float16'), attributes: { to: 'float32' } },
      HALVES,
    ),
    ...bothWidths(
      'around the middles of float16',
      { ...input('float32'), attributes: { to: 'float16' } },
      MIDDLES,
    ),
  ]),
];
