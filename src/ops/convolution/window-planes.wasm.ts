import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { addProduct, storeColumns } from '../linear/product-frame.wasm.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';
import { writesInOrder } from '../lowering/unit-writes.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import { type PaddedVolumes, paddedVolumes } from './padded-volumes.wasm.ts';
import { nest, type NestDim, strided } from './tap-nest.wasm.ts';
import type { VolumeAxes } from './window.ts';
import { countFunction, isEqualCount, windowElements } from './window-counts.wasm.ts';
import type { PlaneWindow } from './window-tile.ts';

/** A window over volumes: a pooling, or a convolution of groups with few channels. */
interface VolumeWindow extends Pick<PlaneWindow, 'kind' | 'hasBias' | 'countsPad' | 'outside'> {
  readonly axes: VolumeAxes;
  /** Groups of volumes of the image, of all images. */
  readonly groups: number;
  /** Volumes of the image that a volume of the result is the sum of. */
  readonly groupIn: number;
  /** Volumes of the result for a group. */
  readonly groupOut: number;
  /** Volumes of the result for an image. */
  readonly outChannels: number;
}

/** So many weights stay in registers beside two sums. */
const REGISTER_WEIGHTS = 10;

/** Four positions of a row at a time, each tap a vector; the image is copied with its padding first. */
export function windowKernel(window: VolumeWindow): WasmKernel {
  const { axes, groups, groupIn, groupOut, outside, kind } = window;
  const image = paddedVolumes(axes, { volumes: groupIn, outside, splits: splitsColumns(window) });
  const counts = kind === 'mean' && !isEqualCount(window) ? countFunction(window) : undefined;
  const [depths, rows, columns] = axes;
  const size = groupIn * depths.size * rows.size * columns.size;
  const plane = rows.count * columns.count;
  return {
    functions: [
      ...image.functions,
      ...(counts ? [counts.function] : []),
      planeFunction(window, image, counts !== undefined),
    ],
    scratch: [...image.scratch, ...(counts ? [counts.byteLength] : [])],
    units: groups,
    writes: writesInOrder(groupOut * depths.count * plane),
    unitInputs: [size * FLOAT],
    work: groups * groupOut * depths.count * plane * windowElements(axes) * groupIn,
    body: ({ inputs: [x, kernels, bias], output, scratch, units }) => {
      if (x === undefined) return [];
      const copy = image.isCopy ? scratch[0] : undefined;
      const table = counts && scratch.at(-1);
      const [group, out, source, z] = w.locals(4);
      const index = plus(times(group, groupOut), out);
      const channel = w.apply('i32.rem_u', index, w.i32(window.outChannels));
      const depth = times(z, depths.stride * image.sizes[1] * image.sizes[2] * FLOAT);
      const line = plus(times(index, depths.count), z);
      const args = [
        plus(copy ?? source, depth),
        plus(output, times(line, plane * FLOAT)),
        ...(kernels ? [plus(kernels, times(channel, windowElements(axes) * groupIn * FLOAT))] : []),
        ...(bias ? [plus(bias, times(channel, FLOAT))] : []),
        ...(table ? [table, plus(table, times(z, FLOAT))] : []),
      ];
      return [
        ...(copy ? image.fill(copy) : []),
        ...(table ? [s.call('count', [table])] : []),
        ...s.loop({ index: group, begin: units.first, end: units.end }, [
          s.set(source, plus(x, times(group, size * FLOAT))),
          ...(copy ? image.copy(source, copy) : []),
          ...s.loop({ index: out, end: w.i32(groupOut) }, [
            ...s.loop({ index: z, end: w.i32(depths.count) }, [s.call('plane', args)]),
          ]),
        ]),
      ];
    },
  };
}

/**
 * Returns true if it is faster to put even and odd columns apart; the taps of a row are then
 * written out.
 */
function splitsColumns({ axes: [, , { stride, kernel, count }] }: VolumeWindow): boolean {
  return stride === 2 && kernel >= 3 && kernel <= 16 && count >= 4;
}

/** Addresses, loops and registers for the positions of one plane. */
interface Plane {
  readonly window: VolumeWindow;
  readonly image: PaddedVolumes;
  /** Elements in memory from one position of a row to the next. */
  readonly stride: number;
  readonly dims: readonly NestDim[];
  readonly kernels: Local;
  /** Weights in registers; empty where they are loaded with each tap. */
  readonly weights: readonly Local[];
  /** The value that sums begin with. */
  readonly first: Expression;
  readonly counts: { readonly row: Local; readonly columns: Local } | undefined;
}

/** `plane(x, y, kernels?, bias?, counts?, depthCount?)`: the positions of one depth. */
function planeFunction(
  window: VolumeWindow,
  image: PaddedVolumes,
  isCounted: boolean,
): WasmFunction {
  const { axes, kind, hasBias, outside } = window;
  const [, rows, columns] = axes;
  const [x, y, kernels, bias, table, depth] = w.locals(6);
  const [start, row, rowX, rowY] = [
    w.local('v128'),
    w.local('i32'),
    w.local('i32'),
    w.local('i32'),
  ];
  const isWeighted = kind === 'weighted';
  const begin = isWeighted ? (hasBias ? w.load('splat32', bias) : w.f32x4(0)) : w.f32x4(outside);
  const plane: Plane = {
    window,
    image,
    stride: splitsColumns(window) ? 1 : columns.stride,
    dims: tapDims(window, image),
    kernels,
    weights: weightLocals(window),
    first: start,
    counts: isCounted ? { row: w.local('v128'), columns: w.local('i32') } : undefined,
  };
  return {
    name: 'plane',
    params: [
      x,
      y,
      ...(isWeighted ? [kernels] : []),
      ...(hasBias ? [bias] : []),
      ...(isCounted ? [table, depth] : []),
    ],
    body: [
      ...plane.weights.map((weight, tap) => s.set(weight, w.load('splat32', kernels, tap * FLOAT))),
      s.set(start, begin),
      s.set(rowX, x),
      s.set(rowY, y),
      ...s.loop({ index: row, end: w.i32(rows.count) }, [
        ...beginCounts(plane, { table, depth, row }),
        ...rowOf(plane, rowX, rowY),
        s.increment(rowX, rows.stride * image.sizes[2] * FLOAT),
        s.increment(rowY, columns.count * FLOAT),
      ]),
    ],
  };
}

function weightLocals({ axes, kind, groupIn }: VolumeWindow): Local[] {
  const taps = windowElements(axes) * groupIn;
  if (kind !== 'weighted' || taps > REGISTER_WEIGHTS) return [];
  return w.locals(taps, 'v128');
}

/** The counts of a row of positions, from the table of those along depth, height and width. */
function beginCounts(
  { window, counts }: Plane,
  { table, depth, row }: Readonly<Record<'table' | 'depth' | 'row', Local>>,
): Statement[] {
  if (counts === undefined) return [];
  const [depths, rows] = window.axes;
  const rowCount = w.load('splat32', plus(table, times(row, FLOAT)), depths.count * FLOAT);
  return [
    s.set(counts.columns, plus(table, (depths.count + rows.count) * FLOAT)),
    s.set(counts.row, w.apply('f32x4.mul', w.load('splat32', depth), rowCount)),
  ];
}

/** Channels and taps: how they move elements and weights, and the column where these do not lie in order. */
function tapDims(window: VolumeWindow, image: PaddedVolumes): NestDim[] {
  const { axes, groupIn } = window;
  const [depths, rows, columns] = axes;
  const [, height, width] = image.sizes;
  const plane = rows.kernel * columns.kernel;
  const steps = (elements: number, taps: number) => [elements * FLOAT, taps * FLOAT];
  return [
    { size: groupIn, steps: steps(image.volume, depths.kernel * plane) },
    { size: depths.kernel, steps: steps(depths.dilation * height * width, plane) },
    { size: rows.kernel, steps: steps(rows.dilation * width, columns.kernel) },
    {
      size: columns.kernel,
      steps: splitsColumns(window) ? [0, FLOAT, columns.dilation] : steps(columns.dilation, 1),
    },
  ];
}

/** A row of positions. The last vector reaches back where they are no multiple of four. */
function rowOf(plane: Plane, rowX: Local, rowY: Local): Statement[] {
  const { axes } = plane.window;
  const { count } = axes[2];
  const { stride } = plane;
  const [x, y, index] = w.locals(3);
  const at = { x, y };
  const { counts } = plane;
  if (count < 4) return vectors(plane, { x: rowX, y: rowY }, [{ column: 0, count }]);
  const width = plane.weights.length > 0 ? 2 : 4;
  const quads = Math.floor(count / 4);
  const rounds = Math.floor(quads / width);
  const places = (length: number) =>
    Array.from({ length }, (_, i) => ({ column: i * 4, count: 4 }));
  const rest = places(quads % width);
  const left = count - rounds * width * 4;
  if (count % 4 > 0) rest.push({ column: left - 4, count: 4 });
  return [
    s.set(x, rowX),
    s.set(y, rowY),
    ...s.loop({ index, end: w.i32(rounds) }, [
      ...vectors(plane, at, places(width)),
      s.increment(x, width * 4 * stride * FLOAT),
      s.increment(y, width * 4 * FLOAT),
      ...(counts ? [s.increment(counts.columns, width * 4 * FLOAT)] : []),
    ]),
    ...(rest.length > 0 ? vectors(plane, at, rest) : []),
  ];
}

interface Quad {
  /** From the addresses on; may be negative where there is another vector before. */
  readonly column: number;
  readonly count: number;
}

/** Vectors of positions, tap by tap. */
function vectors(
  plane: Plane,
  at: { readonly x: Local; readonly y: Local },
  quads: readonly Quad[],
): Statement[] {
  // Offsets of loads are no less than 0.
  const back = Math.max(0, -Math.min(...quads.map(({ column }) => column)));
  if (back > 0) {
    const { stride } = plane;
    const moved = { x: w.local('i32'), y: w.local('i32') };
    const { counts } = plane;
    return [
      s.set(moved.x, plus(at.x, -back * stride * FLOAT)),
      s.set(moved.y, plus(at.y, -back * FLOAT)),
      ...(counts ? [s.increment(counts.columns, -back * FLOAT)] : []),
      ...vectors(
        plane,
        moved,
        quads.map(({ column, count }) => ({ column: column + back, count })),
      ),
    ];
  }
  const { window, image, dims, kernels, weights, first, stride } = plane;
  const isMax = window.kind === 'max';
  const sums = quads.map((quad) => ({
    ...quad,
    value: w.local('v128'),
    isNaN: isMax ? w.local('v128') : undefined,
  }));
  const weight = w.local('v128');
  return [
    ...sums.flatMap(({ value, isNaN }) => [
      s.set(value, first),
      ...(isNaN ? [s.set(isNaN, w.i32x4(0))] : []),
    ]),
    ...nest(
      dims,
      window.kind === 'weighted' ? [at.x, kernels] : [at.x],
      ([x = at.x, pw = kernels], [offset = 0, weightOffset = 0, tapColumn = 0]) => {
        const known = weights[weightOffset / FLOAT];
        const isLoaded = window.kind === 'weighted' && known === undefined;
        return [
          ...(isLoaded ? [s.set(weight, w.load('splat32', pw, weightOffset))] : []),
          ...sums.flatMap((sum) => {
            const from = offset + (image.columnAt(tapColumn) + sum.column * stride) * FLOAT;
            const element = strided(x, from, { stride, count: sum.count });
            return accumulate(window.kind, sum, { element, weight: known ?? weight });
          }),
        ];
      },
    ),
    ...sums.flatMap((sum) => storeQuad(plane, at.y, sum)),
  ];
}

interface Sum extends Quad {
  readonly value: Local;
  /** Lanes of a maximum in whose windows a NaN was. */
  readonly isNaN: Local | undefined;
}

function accumulate(
  kind: VolumeWindow['kind'],
  { value, isNaN }: Sum,
  { element, weight }: { readonly element: Expression; readonly weight: Local },
): Statement[] {
  if (kind === 'weighted') return [addProduct(value, weight, element)];
  if (isNaN === undefined) return [s.set(value, w.apply('f32x4.add', value, element))];
  // The maximum that keeps NaN takes engines eight instructions, one after the other.
  return [
    s.set(weight, element),
    s.set(isNaN, w.apply('v128.or', isNaN, w.apply('f32x4.ne', weight, weight))),
    s.set(value, w.apply('f32x4.pmax', value, weight)),
  ];
}

function storeQuad(plane: Plane, y: Local, { value, isNaN, column, count }: Sum): Statement[] {
  const offset = column * FLOAT;
  const isMean = plane.window.kind === 'mean';
  const result = isNaN
    ? w.apply('v128.or', value, isNaN)
    : isMean
      ? w.apply('f32x4.div', value, countOf(plane, offset))
      : value;
  return storeColumns({ y, offset, count }, result);
}

/** Elements that count in the windows of a vector of positions. */
function countOf({ window, counts }: Plane, offset: number): Expression {
  if (counts === undefined) return w.f32x4(windowElements(window.axes));
  return w.apply('f32x4.mul', counts.row, w.load('v128', counts.columns, offset));
}
