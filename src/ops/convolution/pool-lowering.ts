import direct from '../../../shaders/pool-direct.wgsl?raw';
import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { elementKernel } from '../lowering/element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall } from '../lowering/lowering.ts';
import { LONG_ROW, longSum } from '../reduction/long-sum.ts';
import { lowerReduceAxes } from '../reduction/reduce-lowering.ts';
import { type VolumeAxes, volumeAxes, windowAxes } from './window.ts';
import { type PlaneWindow, windowTileKernel } from './window-tile.ts';
import { windowParams } from './window-params.ts';

/** The function of a pool over the elements in its window; `place` is where the maximum stands. */
export type PoolKind = 'max' | 'place' | 'mean' | 'sum';

/** The type that kernels load, and its least value; floats are left out. */
const LOADED: Partial<Record<DType, readonly [string, number]>> = {
  int8: ['i32', -128],
  uint8: ['u32', 0],
};

/** Kernels of the pools over a sliding window. */
function lowerPool(kind: PoolKind): (call: LoweringCall) => readonly KernelSpec[] {
  return ({ inputs, output, attributes, caps }) => {
    const axes = windowAxes(inputs[0]?.shape ?? [], attributes, {
      name: 'pool',
      kernel: intsAttribute(attributes, 'kernel'),
      ceilMode: Boolean(attributes.ceil_mode),
      dims: CONCRETE_DIMS,
    });
    const volume = volumeAxes(axes);
    const isPlace = kind === 'place';
    const taps = elementCount(volume.map(({ kernel }) => kernel));
    const isLong = (kind === 'mean' || kind === 'sum') && taps > LONG_ROW;
    const [loaded, lowest] = LOADED[inputs[0]?.dtype ?? 'float32'] ?? ['f32', -Infinity];
    const outside = kind === 'max' || isPlace ? lowest : 0;
    const tile =
      axes.length < 3 && !isPlace && !isLong
        ? tileOf(kind, volume, { output, attributes, outside })
        : undefined;
    const tiled = tile && windowTileKernel(tile, caps);
    if (tiled !== undefined) return [tiled];
    const count = elementCount(output.shape);
    const long = longSum({ isLong, noPart: 'Part()' });
    return elementKernel(count, caps, {
      name: 'pool-direct',
      source: `alias Loaded = ${isPlace ? loaded : 'Element'};\n${long.source}${direct}`,
      constants: {
        ...long.constants,
        IS_MAX: kind === 'max' || isPlace,
        IS_PLACE: isPlace,
        IS_MEAN: kind === 'mean',
        IS_COLUMN_MAJOR: Boolean(attributes.column_major),
        COUNTS_PAD: Boolean(attributes.count_include_pad),
      },
      params: {
        ...windowParams(volume),
        lowest: f32(lowest),
        counted_d: volume[0].size + volume[0].padAfter,
        counted_h: volume[1].size + volume[1].padAfter,
        counted_w: volume[2].size + volume[2].padAfter,
      },
      hooks: ['x'],
    });
  };
}

interface TileOptions extends Pick<LoweringCall, 'output' | 'attributes'> {
  readonly outside: number;
}

function tileOf(
  kind: Exclude<PoolKind, 'place'>,
  [, rows, columns]: VolumeAxes,
  { output, attributes, outside }: TileOptions,
): PlaneWindow {
  const [batch = 1, channels = 1] = output.shape;
  return {
    kind,
    rows,
    columns,
    planes: batch * channels,
    multiplier: 1,
    outChannels: channels,
    hasBias: false,
    countsPad: Boolean(attributes.count_include_pad),
    outside,
  };
}

/** Kernels of `global_max_pool` and `global_avg_pool`: all axes after the second. */
function lowerGlobalPool(kind: 'max' | 'mean'): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => {
    const rank = call.inputs[0]?.shape.length ?? 0;
    const axes = Array.from({ length: Math.max(0, rank - 2) }, (_, i) => i + 2);
    return lowerReduceAxes(call, kind, axes);
  };
}

export const POOL_LOWERINGS = {
  max_pool: lowerPool('max'),
  max_pool_indices: lowerPool('place'),
  avg_pool: lowerPool('mean'),
  sum_pool: lowerPool('sum'),
  global_max_pool: lowerGlobalPool('max'),
  global_avg_pool: lowerGlobalPool('mean'),
};
