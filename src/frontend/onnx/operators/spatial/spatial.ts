import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { dtypeInfo } from '../../../../core/tensor/dtype.ts';
import { isFloat } from '../../../../ops/elementwise/number-dtypes.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast, number } from '../elementwise/elementwise.ts';
import { importResize, importUpsample } from './resize.ts';
import { sliceAlong } from '../movement/slice-along.ts';

function importGridSample(node: ImportNode): Expr {
  const x = node.input(0);
  const { dtype } = node.type(x);
  // Integers that float32 holds exactly; others are refused.
  const data = dtypeInfo(dtype).byteLength < 4 && !isFloat(dtype) ? cast(node, x, 'float32') : x;
  const mode = node.attributes.string('mode', 'linear');
  const grid = cast(node, node.input(1), node.type(data).dtype);
  const samples = node.call('grid_sample', [data, grid], {
    mode: mode.replace(/^bi/, ''),
    padding: node.attributes.string('padding_mode', 'zeros'),
    align_corners: node.attributes.bool('align_corners'),
  });
  return cast(node, samples, dtype);
}

/** Sums of the columns of theta, times the coordinates of each axis from -1 to 1. */
function importAffineGrid(node: ImportNode): Expr {
  const theta = node.input(0);
  const [batch = 1, ...sizes] = node.dimsInput(1, 'sizes') ?? [];
  sizes.shift();
  const rank = sizes.length;
  if (rank < 1 || rank > 3) throw node.malformed(`sizes of ${rank + 2} axes`, '4 or 5');
  const column = (k: number) =>
    node.reshape(sliceAlong(node, theta, { axis: 2, start: k, end: k + 1 }), [
      batch,
      ...sizes.map(() => 1),
      rank,
    ]);
  // Theta has the last axis first.
  const terms = sizes.map((size, axis) => {
    const shape: Dim[] = new Array<Dim>(rank + 2).fill(1).with(axis + 1, size);
    const places = cast(node, node.reshape(coordinates(node, size), shape), node.type(theta).dtype);
    return node.call('mul', [places, column(rank - 1 - axis)]);
  });
  return node.chain('add', [...terms.toReversed(), column(rank)]);
}

/** From -1 to 1: the middles of elements, or from the first to the last where corners align. */
function coordinates(node: ImportNode, size: Dim): Expr {
  const isAligned = node.attributes.bool('align_corners');
  if (typeof size === 'number') {
    const span = Math.max(size - 1, 1);
    const place = (i: number) =>
      isAligned ? (2 * i) / span - Number(size > 1) : (2 * i + 1) / size - 1;
    return node.table('float32', [size], place);
  }
  const { dims } = node;
  const index = cast(node, node.call('arange', [], { start: [0], size: [size] }), 'float32');
  const float = (dim: Dim) => cast(node, node.call('dims_tensor', [], { dims: [dim] }), 'float32');
  const one = number(node, index, 1);
  const twice = node.call('add', [index, index]);
  if (!isAligned) {
    const middle = node.call('div', [node.call('add', [twice, one]), float(size)]);
    return node.call('sub', [middle, one]);
  }
  const span = float(dims.max(dims.sub(size, 1), 1));
  const begin = float(dims.min(dims.sub(size, 1), 1));
  return node.call('sub', [node.call('div', [twice, span]), begin]);
}

function importRoiAlign(node: ImportNode): Expr {
  const { attributes, opset } = node;
  const x = node.input(0);
  const rois = cast(node, node.input(1), node.type(x).dtype);
  const transform = attributes.string('coordinate_transformation_mode', 'half_pixel');
  return node.call('roi_align', [x, rois, cast(node, node.input(2), 'int32')], {
    size: [attributes.int('output_height', 1), attributes.int('output_width', 1)],
    scale: attributes.float('spatial_scale', 1),
    sampling: attributes.int('sampling_ratio', 0),
    max: attributes.string('mode', 'avg') === 'max',
    half_pixel: opset >= 16 && transform === 'half_pixel',
  });
}

export const SPATIAL_IMPORTERS: OperatorImporters = {
  AffineGrid: since(20, 'add arange cast div sub reshape slice mul', importAffineGrid),
  GridSample: since(16, 'grid_sample', importGridSample),
  Resize: since(10, 'resample cast mul floor gather resize_table round', importResize),
  RoiAlign: since(10, 'roi_align cast', importRoiAlign),
  Upsample: since(7, 'resize_table cast mul floor gather resample repeat', importUpsample),
};
