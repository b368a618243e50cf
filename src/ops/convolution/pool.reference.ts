import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { floatAttribute } from '../attributes.ts';
import type { NumberArray } from '../define-op.ts';
import { numberElements, floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { reduceTensor } from '../reduction/reduction.reference.ts';
import { countedTaps } from './counted-taps.ts';
import type { PoolKind } from './pool-lowering.ts';
import { poolAxes, type PoolName } from './pool.ts';
import { tapRange, volumeAxes, type VolumeAxes, type WindowAxis } from './window.ts';

function poolReference(name: PoolName, kind: PoolKind): StaticReference {
  return {
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      const axes = volumeAxes(poolAxes(x.shape, attributes, { name, dims: CONCRETE_DIMS }));
      const countsPad = attributes['count_include_pad'] === true;
      const isColumnMajor = attributes['column_major'] === true;
      poolVolumes(x, output, { kind, countsPad, isColumnMajor, axes });
    },
  };
}

function globalPoolReference(kind: 'max' | 'mean'): StaticReference {
  const spatialAxes = (rank: number) => Array.from({ length: rank - 2 }, (_, i) => i + 2);
  return {
    reference(inputs, _, output) {
      const x = operand(inputs, 0);
      const axes = new Set(spatialAxes(x.shape.length));
      reduceTensor(kind, x, { axes, output });
    },
  };
}

interface PoolPlan {
  readonly kind: PoolKind;
  readonly countsPad: boolean;
  /** Places count the first spatial axis fastest. */
  readonly isColumnMajor: boolean;
  readonly axes: VolumeAxes;
}

/**
 * Pools every (N, C) volume. The mean divides by the elements inside the image, or inside image and
 * padding with `countsPad`; what `ceil_mode` adds beyond the padding never counts. NaN in a window
 * makes its maximum NaN. Of equal maxima the first gives the place.
 */
function poolVolumes(x: HostTensor, output: HostTensor, plan: PoolPlan): void {
  const { axes, countsPad } = plan;
  const from = numberElements(x);
  const to = numberElements(output);
  const volumes = elementCount(output.shape.slice(0, 2));
  const size = axes[0].size * axes[1].size * axes[2].size;
  const [slices, rows, columns] = axes.map((axis) => windows(axis, countsPad));
  let out = 0;
  for (let volume = 0; volume < volumes; volume++) {
    for (const slice of slices ?? []) {
      for (const row of rows ?? []) {
        for (const column of columns ?? []) {
          to[out] = poolWindow(from, volume * size, { plan, slice, row, column });
          out++;
        }
      }
    }
  }
}

/** One position of a window along an axis: its taps that lie inside, and how many count. */
interface PlacedWindow {
  /** Source index of tap 0, inside or not. */
  readonly start: number;
  readonly firstTap: number;
  readonly endTap: number;
  readonly counted: number;
}

function windows(axis: WindowAxis, countsPad: boolean): PlacedWindow[] {
  return Array.from({ length: axis.count }, (_, i) => {
    const start = i * axis.stride - axis.padBefore;
    const [firstTap, endTap] = tapRange(axis, start);
    return { start, firstTap, endTap, counted: countedTaps(axis, start, countsPad) };
  });
}

interface PoolPlace {
  readonly plan: PoolPlan;
  readonly slice: PlacedWindow;
  readonly row: PlacedWindow;
  readonly column: PlacedWindow;
}

function poolWindow(x: NumberArray, offset: number, place: PoolPlace): number {
  const { plan, slice, row, column } = place;
  const [depths, rows, columns] = plan.axes;
  let largest = -Infinity;
  let largestAt = -1;
  let sum = 0;
  for (let q = slice.firstTap; q < slice.endTap; q++) {
    const plane = (slice.start + q * depths.dilation) * rows.size;
    for (let r = row.firstTap; r < row.endTap; r++) {
      const from = offset + (plane + row.start + r * rows.dilation) * columns.size + column.start;
      for (let s = column.firstTap; s < column.endTap; s++) {
        const at = from + s * columns.dilation;
        const value = x[at] ?? 0;
        sum += value;
        if (largestAt >= 0 && !(value > largest || Number.isNaN(value))) continue;
        largest = value;
        largestAt = at;
      }
    }
  }
  if (plan.kind === 'max') return largest;
  if (plan.kind === 'place') return plan.isColumnMajor ? columnMajor(largestAt, plan) : largestAt;
  if (plan.kind === 'sum') return sum;
  return sum / Math.max(slice.counted * row.counted * column.counted, 1);
}

function columnMajor(at: number, { axes: [depths, rows, columns] }: PoolPlan): number {
  const x = at % columns.size;
  const y = Math.floor(at / columns.size) % rows.size;
  const z = Math.floor(at / (columns.size * rows.size)) % depths.size;
  const volume = Math.floor(at / (columns.size * rows.size * depths.size));
  return ((volume * columns.size + x) * rows.size + y) * depths.size + z;
}

export const POOL_REFERENCES = {
  max_pool: poolReference('max_pool', 'max'),
  max_pool_indices: poolReference('max_pool_indices', 'place'),
  avg_pool: poolReference('avg_pool', 'mean'),
  sum_pool: poolReference('sum_pool', 'sum'),
  global_max_pool: globalPoolReference('max'),
  global_avg_pool: globalPoolReference('mean'),
} satisfies Record<PoolName, StaticReference>;

export const maxRoiPoolReference: StaticReference = {
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const [elements, rois] = [floatElements(x), floatElements(operand(inputs, 1))];
    const y = floatElements(output);
    const scale = Math.fround(floatAttribute(attributes, 'scale'));
    const [images = 0, channels = 0, height = 0, width = 0] = x.shape;
    const [, , rows = 1, columns = 1] = output.shape;
    const corner = (at: number): number => roundAway(Math.fround((rois[at] ?? 0) * scale));
    for (let i = 0; i < y.length; i++) {
      const region = Math.floor(i / columns / rows / channels);
      const image = Math.min(Math.max(Math.trunc(rois[region * 5] ?? 0), 0), images - 1);
      const plane = (image * channels + (Math.floor(i / columns / rows) % channels)) * height;
      const [top, bottom] = cellOf(corner(region * 5 + 2), corner(region * 5 + 4), {
        index: Math.floor(i / columns) % rows,
        cells: rows,
        size: height,
      });
      const [left, right] = cellOf(corner(region * 5 + 1), corner(region * 5 + 3), {
        index: i % columns,
        cells: columns,
        size: width,
      });
      let largest = top < bottom && left < right ? -Infinity : 0;
      for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) {
          largest = Math.max(largest, elements[(plane + row) * width + column] ?? 0);
        }
      }
      y[i] = largest;
    }
  },
};

interface Cell {
  readonly index: number;
  readonly cells: number;
  readonly size: number;
}

function cellOf(first: number, last: number, { index, cells, size }: Cell): [number, number] {
  const extent = Math.max(last - first + 1, 1);
  const inside = (at: number): number => Math.min(Math.max(at + first, 0), size);
  return [
    inside(Math.floor((index * extent) / cells)),
    inside(Math.ceil(((index + 1) * extent) / cells)),
  ];
}

/** Rounds to the nearest integer, halves away from zero. */
function roundAway(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}
