import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { MAX_DIMENSION } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  broadcastShapes,
  elementCount,
  formatShape,
  normalizeAxis,
} from '../../core/tensor/shape.ts';
import { boolAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import { numberElements } from '../elements.ts';
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

export const melWeightsReference: DynamicReference = {
  compute(inputs, attributes) {
    const [bins = 0, length = 0, rate = 0, lower = 0, upper = 0] = [0, 1, 2, 3, 4].map((i) =>
      Number(operand(inputs, i).data[0] ?? 0),
    );
    return melMatrix({ bins, length, rate, lower, upper }, stringAttribute(attributes, 'where'));
  },
};

interface MelScale {
  readonly bins: number;
  /** Samples that are transformed. */
  readonly length: number;
  /** The sample rate in hertz, the unit of the edges too. */
  readonly rate: number;
  readonly lower: number;
  readonly upper: number;
}

/** D. O'Shaughnessy's mel scale, 2595 log10(1 + f / 700), rounded down to places of the spectrum. */
export function melMatrix(scale: MelScale, where: string): HostTensor {
  const { bins, length, rate, lower, upper } = scale;
  const rows = Math.floor(length / 2) + 1;
  if (!(bins >= 0 && length >= 0 && rate > 0 && bins * rows <= MAX_DIMENSION)) {
    throw new ShapeError({
      where,
      got: `${bins} mel bins of a transform of ${length} at ${rate} Hz`,
      expected: 'bins and a length from 0, a rate above 0',
    });
  }
  const mel = (hertz: number) => 2595 * Math.log10(1 + hertz / 700);
  const step = (mel(upper) - mel(lower)) / (bins + 2);
  const places = Array.from({ length: bins + 2 }, (_, i) => {
    const hertz = 700 * (10 ** ((i * step + mel(lower)) / 2595) - 1);
    return Math.floor(((length + 1) * hertz) / rate);
  });
  const matrix = HostTensor.zeros('float32', [rows, bins]);
  const weights = numberElements(matrix);
  for (let bin = 0; bin < bins; bin++) {
    const [low = 0, center = 0, high = 0] = places.slice(bin, bin + 3);
    // Slopes may begin and end outside of the spectrum.
    for (let row = Math.max(low, 0); row <= Math.min(center, rows - 1); row++) {
      weights[row * bins + bin] = center === low ? 1 : (row - low) / (center - low);
    }
    for (let row = Math.max(center, 0); row < Math.min(high, rows); row++) {
      weights[row * bins + bin] = (high - row) / (high - center);
    }
  }
  return matrix;
}
