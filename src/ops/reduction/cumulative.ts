import shader from '../../../shaders/cumulative.wgsl?raw';
import { dtypeInfo } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { numberElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { combinationWgsl } from './reduction-wgsl.ts';
import { rowKernel } from './row-kernel.ts';

const OFF: AttributeSpec = { type: 'bool', default: false };

/** Running sums and products. */
export const cumulative: OpDefinition = defineOp({
  name: 'cumulative',
  kind: 'reduction',
  summary:
    'The sum, or the product, of the elements along an axis up to each: without itself when ' +
    'exclusive, from the end when reverse. Integers wrap.',
  inputs: [{ name: 'x', dtypes: [...FLOATS, 'int32', 'uint32', 'int64', 'uint64'] }],
  attributes: {
    axis: { type: 'int', default: 0 },
    product: OFF,
    exclusive: OFF,
    reverse: OFF,
  },
  infer(inputs, attributes) {
    const { dtype, shape } = operand(inputs, 0);
    normalizeAxis(intAttribute(attributes, 'axis'), shape.length, 'cumulative: attribute axis');
    return { dtype, shape };
  },
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    accumulate(x, output, {
      axis: normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, 'cumulative'),
      isProduct: boolAttribute(attributes, 'product'),
      isExclusive: boolAttribute(attributes, 'exclusive'),
      isReverse: boolAttribute(attributes, 'reverse'),
    });
  },
  lower: (call) => [
    rowKernel(call, {
      name: 'cumulative',
      source:
        combinationWgsl(
          boolAttribute(call.attributes, 'product') ? 'prod' : 'sum',
          call.output.dtype,
        ) + shader,
      axis: intAttribute(call.attributes, 'axis'),
      meetsOnce: false,
      constants: {
        IS_EXCLUSIVE: boolAttribute(call.attributes, 'exclusive'),
        IS_REVERSE: boolAttribute(call.attributes, 'reverse'),
      },
    }),
  ],
  tolerance: { rtol: 1e-4, atol: 1e-4 },
  cases: () => [
    ...[false, true].flatMap((product) =>
      [false, true].flatMap((exclusive) =>
        [false, true].flatMap((reverse) => [
          cumulativeCase([5], { axis: 0, product, exclusive, reverse }),
          cumulativeCase([2, 300, 3], { axis: 1, product, exclusive, reverse }),
        ]),
      ),
    ),
    cumulativeCase([3, 64], { axis: -1 }),
    cumulativeCase([70, 65], { axis: 1 }),
    cumulativeCase([3, 0], { axis: 1 }),
    cumulativeCase([0, 3], { axis: 1 }),
    {
      title: 'a row of 70001',
      inputs: [{ dtype: 'int32', shape: [70_001], range: [-3, 4] as const }],
      attributes: { axis: 0 },
    },
    ...(['int32', 'uint32', 'int64'] as const).map((dtype) => ({
      title: `${dtype} products that wrap`,
      inputs: [{ dtype, shape: [2, 90], range: [1, 8] as const }],
      attributes: { axis: 1, product: true },
    })),
  ],
  badCases: () => [
    cumulativeCase([3, 5], { axis: 2 }),
    { title: 'a scalar', inputs: [{ dtype: 'float32', shape: [] }] },
    { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [3] }] },
  ],
});

function cumulativeCase(shape: Shape, attributes: NonNullable<OpCase['attributes']>): OpCase {
  return {
    title: `(${shape.join(', ')}) with ${JSON.stringify(attributes)}`,
    inputs: [{ dtype: 'float32', shape, range: [-1.5, 1.5] }],
    attributes,
  };
}

interface Accumulation {
  readonly axis: number;
  readonly isProduct: boolean;
  readonly isExclusive: boolean;
  readonly isReverse: boolean;
}

/** In double precision, or as 64-bit integers, which wrap. */
function accumulate(x: HostTensor, output: HostTensor, how: Accumulation): void {
  const { data } = x;
  const target = output.elements;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    if (!(target instanceof BigInt64Array || target instanceof BigUint64Array)) return;
    eachRow(x.shape, how, (places) => {
      let result = how.isProduct ? 1n : 0n;
      for (const at of places) {
        const value = data[at] ?? 0n;
        const next = BigInt.asIntN(64, how.isProduct ? result * value : result + value);
        target[at] = how.isExclusive ? result : next;
        result = next;
      }
    });
    return;
  }
  const elements = numberElements(x);
  const numbers = numberElements(output);
  const isFloat = dtypeInfo(x.dtype).category === 'float';
  const multiply = isFloat ? (a: number, b: number) => a * b : Math.imul;
  eachRow(x.shape, how, (places) => {
    let result = how.isProduct ? 1 : 0;
    for (const at of places) {
      const value = elements[at] ?? 0;
      const next = how.isProduct ? multiply(result, value) : result + value;
      numbers[at] = how.isExclusive ? result : next;
      result = next;
    }
  });
}

/** Calls back with the places of each row's elements, in the order of accumulation. */
function eachRow(
  shape: Shape,
  { axis, isReverse }: Accumulation,
  visit: (places: readonly number[]) => void,
): void {
  const size = shape[axis] ?? 1;
  const inner = elementCount(shape.slice(axis + 1));
  const rows = size === 0 ? 0 : elementCount(shape) / size;
  for (let row = 0; row < rows; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    const places = Array.from({ length: size }, (_, k) => start + k * inner);
    visit(isReverse ? places.reverse() : places);
  }
}
