import type { TypedArray } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { elementCount, rowMajorStrides } from '../../core/shape.ts';
import { dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import type { DynamicReference, OpReference, StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { twiddlesReference } from '../signal/twiddles.reference.ts';
import { resizeTableReference } from '../spatial/resize-table.reference.ts';
import { comparedElements } from './compared-elements.ts';
import type { DynamicName } from './dynamic-ops.ts';
import { integersOf } from './integers.ts';
import { melWeightsReference } from './mel-weights.reference.ts';
import { nonMaxSuppressionReference } from './non-max-suppression.reference.ts';
import { rangeReference } from './range.reference.ts';
import { SIZE_REFERENCES } from './sizes.reference.ts';
import { NAMES } from './slice-indices.ts';
import {
  uniqueCountsReference,
  uniqueIndicesReference,
  uniqueInverseReference,
} from './unique.reference.ts';

const nonzeroReference: DynamicReference = {
  compute: (inputs) => findNonzero(operand(inputs, 0)),
};

function findNonzero(x: HostTensor): HostTensor {
  const elements = comparedElements(x);
  const positions: number[] = [];
  for (let i = 0; i < elements.length; i++) if (Number(elements[i]) !== 0) positions.push(i);
  const strides = rowMajorStrides(x.shape);
  const count = positions.length;
  const result = new BigInt64Array(strides.length * count);
  for (const [axis, stride] of strides.entries()) {
    const dim = x.shape[axis] ?? 1;
    for (const [column, position] of positions.entries()) {
      result[axis * count + column] = BigInt(Math.floor(position / stride) % dim);
    }
  }
  return new HostTensor('int64', [strides.length, count], result);
}

const sliceIndicesReference: DynamicReference = {
  compute(inputs, attributes) {
    const [starts = [], ends = [], axes = [], steps = []] = NAMES.map((_, i) =>
      integersOf(operand(inputs, i)),
    );
    const dims = dimsAttribute(attributes, 'dims').map(Number);
    const axis = intAttribute(attributes, 'axis');
    const where = stringAttribute(attributes, 'where');
    const wrong = axes.find((given) => given < -dims.length || given >= dims.length);
    if (wrong !== undefined || [ends, axes, steps].some(({ length }) => length !== starts.length)) {
      throw new ShapeError({
        where,
        got: wrong === undefined ? 'lists of different lengths' : `axis ${wrong}`,
        expected: `a start, an end, a step and an axis of ${dims.length} for each`,
      });
    }
    const at = axes.findIndex((given) => (given < 0 ? given + dims.length : given) === axis);
    const [start = 0, end = dims[axis] ?? 0, step = 1] = [starts[at], ends[at], steps[at]];
    if (step === 0) throw new ShapeError({ where, got: 'a step of 0', expected: 'another step' });
    const positions = positionsOf({ start, end, step }, dims[axis] ?? 0);
    return HostTensor.from('int64', [positions.length], positions);
  },
};

interface Span {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** Negative positions count from the end; beyond an end the axis is cut. */
function positionsOf({ start, end, step }: Span, size: number): number[] {
  const clamp = (position: number, low: number, high: number): number =>
    Math.min(Math.max(position < 0 ? position + size : position, low), high);
  const isForward = step > 0;
  const from = isForward ? clamp(start, 0, size) : clamp(start, 0, size - 1);
  const to = isForward ? clamp(end, 0, size) : clamp(end, -1, size - 1);
  const count = size === 0 ? 0 : Math.max(0, Math.ceil((to - from) / step));
  return Array.from({ length: count }, (_, i) => from + i * step);
}

const dimsTensorReference: StaticReference = {
  reference(_, attributes, output) {
    store(output.elements, dimsAttribute(attributes, 'dims').map(Number));
  },
};

const arangeReference: StaticReference = {
  reference(_, attributes, output) {
    const [start = 0] = dimsAttribute(attributes, 'start').map(Number);
    const step = intAttribute(attributes, 'step');
    const count = elementCount(output.shape);
    store(
      output.elements,
      Array.from({ length: count }, (_element, i) => start + i * step),
    );
  },
};

function store(elements: TypedArray, values: readonly number[]): void {
  if (elements instanceof BigInt64Array) elements.set(values.map(BigInt));
}

export const DYNAMIC_REFERENCES = {
  nonzero: nonzeroReference,
  non_max_suppression: nonMaxSuppressionReference,
  unique_indices: uniqueIndicesReference,
  unique_counts: uniqueCountsReference,
  unique_inverse: uniqueInverseReference,
  range: rangeReference,
  mel_weights: melWeightsReference,
  ...SIZE_REFERENCES,
  slice_indices: sliceIndicesReference,
  dims_tensor: dimsTensorReference,
  arange: arangeReference,
  resize_table: resizeTableReference,
  twiddles: twiddlesReference,
} satisfies Record<DynamicName, OpReference>;
