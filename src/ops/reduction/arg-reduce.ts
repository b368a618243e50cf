import shader from '../../../shaders/arg-reduce.wgsl?raw';
import { type DType, isBigInt } from '../../core/dtype.ts';
import { internalError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { NUMERIC } from '../elementwise/number-dtypes.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { formatType, operand, requireElements } from '../operand-checks.ts';
import { wgslTypeName } from '../wgsl-literal.ts';
import { wideDeclarations } from '../wide-integers.ts';
import { rowKernel } from './row-kernel.ts';

type Extreme = 'max' | 'min';

function defineArgReduce(name: string, extreme: Extreme): OpDefinition {
  return defineOp({
    name,
    kind: 'reduction',
    summary:
      `The place of the ${extreme === 'max' ? 'greatest' : 'least'} element along an axis, which ` +
      'the result keeps with size 1: the first of equal ones, or the last. NaN goes before all else.',
    inputs: [{ name: 'x', dtypes: NUMERIC }],
    attributes: {
      axis: { type: 'int', default: 0 },
      select_last: { type: 'bool', default: false },
    },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      const given = intAttribute(attributes, 'axis');
      const axis = normalizeAxis(given, x.shape.length, `${name}: attribute axis`);
      const kept = x.shape.map((dim, at) => (at === axis ? dims.of(1) : dim));
      const sizes = { kept, reduced: x.shape.slice(axis, axis + 1) };
      requireElements(sizes, dims, () => ({
        where: name,
        got: formatType(x),
        expected: 'elements to choose from',
      }));
      return { dtype: 'int64', shape: kept };
    },
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, name);
      findExtremes(x, output, {
        axis,
        extreme,
        isLast: boolAttribute(attributes, 'select_last'),
      });
    },
    loads: () => 1,
    lower: (call) => [
      rowKernel(call, {
        name: 'arg-reduce',
        source: comparisonWgsl(extreme, call.inputs[0]?.dtype ?? 'float32') + shader,
        axis: intAttribute(call.attributes, 'axis'),
        meetsOnce: true,
        constants: { IS_LAST: boolAttribute(call.attributes, 'select_last') },
      }),
    ],
    tolerance: EXACT,
    cases: () => [
      argCase([5], 0),
      argCase([3, 5], 0),
      argCase([3, 5], -1, true),
      argCase([2, 70, 3], 1),
      argCase([2, 3, 300], 2),
      argCase([4, 1000], 1, true),
      argCase([0, 4], 1),
      argCase([3, 4099], 1),
      argCase([1, 5000, 2], 1, true),
      argCase([65, 63], 1),
      tieCase('the first of equal ones', false),
      tieCase('the last of equal ones', true),
      {
        title: 'equal ones in a long row',
        inputs: [{ dtype: 'int32', shape: [2, 200], range: [0, 3] }],
        attributes: { axis: 1 },
      },
      {
        title: 'the last of equal ones in a long row',
        inputs: [{ dtype: 'uint32', shape: [2, 200], range: [0, 3] }],
        attributes: { axis: 1, select_last: true },
      },
      {
        title: 'NaN and infinities',
        inputs: [
          {
            dtype: 'float32',
            shape: [2, 4],
            values: [1, Number.NaN, Infinity, Number.NaN, -1, Infinity, -Infinity, 3],
          },
        ],
        attributes: { axis: 1 },
      },
      {
        title: 'int64 beyond one word',
        inputs: [{ dtype: 'int64', shape: [4], values: [2 ** 40, -1, 2 ** 40 + 1, -(2 ** 50)] }],
      },
    ],
    badCases: () => [
      argCase([3, 5], 2),
      { title: 'no elements', inputs: [{ dtype: 'float32', shape: [0, 3] }] },
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [3] }] },
    ],
  });
}

function argCase(shape: Shape, axis: number, isLast = false): OpCase {
  return {
    title: `(${shape.join(', ')}) along ${axis}${isLast ? ', last' : ''}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { axis, select_last: isLast },
  };
}

function tieCase(title: string, isLast: boolean): OpCase {
  return {
    title,
    inputs: [{ dtype: 'float32', shape: [2, 4], values: [1, 2, 2, 1, 3, 3, 3, 3] }],
    attributes: { axis: 1, select_last: isLast },
  };
}

interface ExtremeSearch {
  readonly axis: number;
  readonly extreme: Extreme;
  readonly isLast: boolean;
}

function findExtremes(
  x: HostTensor,
  output: HostTensor,
  { axis, extreme, isLast }: ExtremeSearch,
): void {
  const elements: ArrayLike<number | bigint> = x.data;
  const places = output.elements;
  if (!(places instanceof BigInt64Array)) throw internalError('places that are no int64');
  const size = x.shape[axis] ?? 1;
  const inner = elementCount(x.shape.slice(axis + 1));
  const isBetter = (a: number | bigint, b: number | bigint) =>
    (extreme === 'max' ? a > b : a < b) || (Number.isNaN(Number(a)) && !Number.isNaN(Number(b)));
  for (let row = 0; row < places.length; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    let place = 0;
    for (let k = 1; k < size; k++) {
      const best = elements[start + place * inner] ?? 0;
      const next = elements[start + k * inner] ?? 0;
      if (isBetter(next, best) || (isLast && !isBetter(best, next))) place = k;
    }
    places[row] = BigInt(place);
  }
}

/** The type `Value` of the elements and the function `is_better`. */
function comparisonWgsl(extreme: Extreme, dtype: DType): string {
  const [less, more] = extreme === 'max' ? ['b', 'a'] : ['a', 'b'];
  const define = (type: string, expression: string) =>
    `alias Value = ${type};\nfn is_better(a: Value, b: Value) -> bool { return ${expression}; }\n`;
  if (isBigInt(dtype)) {
    const name = dtype === 'uint64' ? 'u64_lt' : 'i64_lt';
    const functions = Object.values(wideDeclarations(name)).join('\n');
    return `${functions}\n${define('vec2<u32>', `${name}(${less}, ${more})`)}`;
  }
  const type = wgslTypeName(dtype);
  if (type !== 'f32') return define(type, `${less} < ${more}`);
  return (
    'fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }\n' +
    define('f32', `${less} < ${more} || (is_nan(a) && !is_nan(b))`)
  );
}

export const ARG_REDUCE_OPS: readonly OpDefinition[] = [
  defineArgReduce('arg_max', 'max'),
  defineArgReduce('arg_min', 'min'),
];
