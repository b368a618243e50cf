import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { integersOf } from './integers.ts';
import { NAMES } from './slice-indices.ts';
import type { DynamicReference } from '../op-reference.ts';

export const sliceIndicesReference: DynamicReference = {
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
