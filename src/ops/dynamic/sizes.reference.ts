import { MAX_DIMENSION } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import {
  broadcastShapes,
  elementCount,
  formatShape,
  normalizeAxis,
} from '../../core/tensor/shape.ts';
import { boolAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import type { DynamicReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { integersOf } from './integers.ts';
import type { SizeName } from './sizes.ts';

interface SizeContext {
  /** The sizes of the data. */
  readonly dims: readonly number[];
  readonly attributes: Attributes;
  readonly fail: (got: string, expected: string) => never;
}

function sizeReference(
  hostSizes: (integers: readonly number[], context: SizeContext) => readonly number[],
): DynamicReference {
  return {
    compute(inputs, attributes) {
      const where = stringAttribute(attributes, 'where');
      const dims = dimsAttribute(attributes, 'dims').map(Number);
      const fail = (got: string, expected: string): never => {
        throw new ShapeError({ where, got, expected });
      };
      const integers = integersOf(operand(inputs, 0));
      const sizes = hostSizes(integers, { dims, attributes, fail });
      for (const size of sizes) {
        if (size < 0 || size > MAX_DIMENSION) fail(`size ${size}`, `0 to ${MAX_DIMENSION}`);
      }
      return HostTensor.zeros('int32', [0, ...sizes]);
    },
  };
}

export const SIZE_REFERENCES = {
  sizes: sizeReference((integers) => integers),
  reshape_sizes: sizeReference(reshapeSizes),
  broadcast_sizes: sizeReference((integers, { dims, fail }) => {
    const low = integers.find((size) => size < 0);
    if (low !== undefined) fail(`size ${low}`, 'sizes from 0 up');
    try {
      return broadcastShapes([dims, integers], '');
    } catch {
      return fail(`${formatShape(dims)} and ${formatShape(integers)}`, 'shapes that broadcast');
    }
  }),
  unsqueeze_sizes: sizeReference(unsqueezeSizes),
  squeeze_sizes: sizeReference(squeezeSizes),
  reduce_sizes: sizeReference(reduceSizes),
  axis_sizes: sizeReference(([given = 0], { dims, fail }) => {
    const [axis = 0] = axesOf([given], { rank: dims.length, fail });
    return [elementCount(dims.slice(0, axis)), dims[axis] ?? 1, elementCount(dims.slice(axis + 1))];
  }),
  resized_axis_sizes: sizeReference(([given = 0, size = 0], { dims, fail }) => {
    const [axis = 0] = axesOf([given], { rank: dims.length, fail });
    return dims.with(axis, size);
  }),
  signed_sizes: sizeReference(signedSizes),
  pad_sizes: sizeReference(padSizes),
} satisfies Record<SizeName, DynamicReference>;

function reshapeSizes(integers: readonly number[], context: SizeContext): readonly number[] {
  const { dims, attributes, fail } = context;
  const isKept = !boolAttribute(attributes, 'allowzero');
  const sizes = integers.map((size, axis) => (size === 0 && isKept ? (dims[axis] ?? 0) : size));
  const free = sizes.indexOf(-1);
  const total = elementCount(dims);
  if (free >= 0) {
    const rest = elementCount(sizes.filter((_, axis) => axis !== free));
    sizes[free] = rest === 0 ? 0 : total / rest;
  }
  const fits = sizes.every((size) => Number.isInteger(size) && size >= 0);
  if (fits && elementCount(sizes) === total) return sizes;
  return fail(
    `shape ${formatShape(integers)}`,
    `one that the ${total} elements of ${formatShape(dims)} fit`,
  );
}

function unsqueezeSizes(integers: readonly number[], { dims, fail }: SizeContext): number[] {
  const rank = dims.length + integers.length;
  const added = axesOf(integers, { rank, fail });
  let next = 0;
  return Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : (dims[next++] ?? 1)));
}

function squeezeSizes(integers: readonly number[], { dims, fail }: SizeContext): number[] {
  const removed = axesOf(integers, { rank: dims.length, fail });
  for (const axis of removed) {
    if (dims[axis] !== 1) fail(`axis ${axis} of ${formatShape(dims)}`, 'an axis of size 1');
  }
  return dims.filter((_, axis) => !removed.has(axis));
}

function reduceSizes(integers: readonly number[], context: SizeContext): number[] {
  const { dims, attributes, fail } = context;
  const reduced = axesOf(integers, { rank: dims.length, fail });
  const pairs = dims.flatMap((dim, axis) => (reduced.has(axis) ? [1, dim] : [dim, 1]));
  const result = boolAttribute(attributes, 'keepdims')
    ? dims.map((dim, axis) => (reduced.has(axis) ? 1 : dim))
    : dims.filter((_, axis) => !reduced.has(axis));
  return [...pairs, ...result];
}

function signedSizes(integers: readonly number[]): number[] {
  return [
    ...integers.map((integer) => Math.max(-integer, 0)),
    ...integers.map((integer) => Math.max(integer, 0)),
  ];
}

function padSizes(integers: readonly number[], { dims, fail }: SizeContext): number[] {
  const count = integers.length / 3;
  const pads = new Array<number>(dims.length * 2).fill(0);
  const axes = [...axesOf(integers.slice(2 * count), { rank: dims.length, fail })];
  for (const [i, axis] of axes.entries()) {
    pads[axis] = integers[i] ?? 0;
    pads[axis + dims.length] = integers[i + count] ?? 0;
  }
  return signedSizes(pads);
}

function axesOf(
  integers: readonly number[],
  { rank, fail }: { readonly rank: number; readonly fail: SizeContext['fail'] },
): ReadonlySet<number> {
  const axes = new Set<number>();
  for (const axis of integers) {
    if (axis < -rank || axis >= rank) fail(`axis ${axis}`, `one from ${-rank} to ${rank - 1}`);
    axes.add(normalizeAxis(axis, rank, ''));
  }
  if (axes.size !== integers.length) fail(`axes ${integers.join(', ')}`, 'each axis once');
  return axes;
}
