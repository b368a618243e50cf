import type { Expr } from '../../../compiler/ir/expr.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { type FlexMap, readFlexMap } from '../reader/flex-map.ts';
import { angleOf } from './elementwise.ts';

// Operators of MediaPipe's face landmarks with attention: three regions of a feature map are cut out around landmarks, and what
// is found in them is brought back.

function requireSecond(node: LiteNode): void {
  const { version } = node.operator;
  if (version !== 2) throw node.unsupported(`version ${version}`, '2');
}

function numberOf(node: LiteNode, options: FlexMap, name: string, otherwise?: number): number {
  const value = options.get(name) ?? otherwise;
  if (typeof value === 'number') return value;
  throw node.malformed(`options without a number ${name}`, 'one');
}

/** A part of a matrix. */
function part(node: LiteNode, x: Expr, [top, left]: Place, [bottom, right]: Place): Expr {
  return node.call('slice', [x], { starts: [top, left], ends: [bottom, right] });
}

type Place = readonly [row: number, column: number];

/** The columns of x and y by the first two rows of a matrix (1, 4, 4): (N, 2). */
function transformed(node: LiteNode, points: Expr, matrix: Expr): Expr {
  const m = node.reshape(matrix, [4, 4]);
  const shift = node.reshape(part(node, m, [0, 3], [2, 4]), [2]);
  return node.call('gemm', [points, part(node, m, [0, 0], [2, 2]), shift], { trans_b: true });
}

/** Landmarks (1, N, 2 or 3) by a matrix; depths stay. */
function transformLandmarks(node: LiteNode): Expr {
  requireSecond(node);
  const [landmarks, matrix] = [node.input(0), node.input(1)];
  const shape = node.shape(landmarks);
  const [, count = 1, size] = shape;
  if (shape.length !== 3 || (size !== 2 && size !== 3)) {
    throw node.malformed(`landmarks of ${shape.length} axes`, '(1, N, 2) or (1, N, 3)');
  }
  const rows = node.reshape(landmarks, [count, size]);
  const n = node.number(count, 'the number of landmarks');
  const moved = transformed(node, part(node, rows, [0, 0], [n, 2]), matrix);
  const depths = size === 3 ? [part(node, rows, [0, 2], [n, 3])] : [];
  const whole = depths.length === 0 ? moved : node.call('concat', [moved, ...depths], { axis: 1 });
  return node.reshape(whole, shape);
}

/** The matrix (1, 4, 4) from places in a crop to those around landmarks (1, N, 3), upright between two of them. */
function landmarksToMatrix(node: LiteNode): Expr {
  requireSecond(node);
  const options = readFlexMap(node.operator.customOptions, node.where);
  const given = (name: string, otherwise?: number) => numberOf(node, options, name, otherwise);
  const subset = options.get('subset_idxs');
  const [, n = 0, size] = node.numbers(node.shape(node.input(0)), 'the number of landmarks');
  const ends = [given('left_rotation_idx'), given('right_rotation_idx')];
  const all = [...ends, ...(typeof subset === 'object' ? subset : [])];
  if (size !== 3 || all.length === 2 || all.some((index) => !(index >= 0 && index < n))) {
    throw node.malformed(`landmarks ${all.join(', ')}`, `some from 0 to ${n - 1}`);
  }
  const [width, height] = [given('output_width'), given('output_height')];
  if (!(width > 0 && height > 0)) throw node.malformed(`a crop ${width} by ${height}`, 'above 0');
  const op = (name: string, a: Expr, b: Expr) => node.call(name, [a, b]);
  const number = (value: number) => node.constant(HostTensor.from('float32', [1], [value]));
  const rows = node.reshape(node.input(0), [n, size]);
  const indices = node.constant(HostTensor.from('int32', [all.length], all));
  const points = node.call('gather', [rows, indices], { axis: 0 });
  const pick = (begin: number, end: number, column: number) =>
    node.reshape(part(node, points, [begin, column], [end, column + 1]), [end - begin]);
  const difference = (column: number) => op('sub', pick(1, 2, column), pick(0, 1, column));
  const angle = angleOf(node, difference(1), difference(0));
  const turn = op('sub', number(given('target_rotation_radians', 0)), angle);
  const [cos, sin] = [node.call('cos', [turn]), node.call('sin', [turn])];
  const [x, y] = [pick(2, all.length, 0), pick(2, all.length, 1)];
  const turned = [
    op('sub', op('mul', x, cos), op('mul', y, sin)),
    op('add', op('mul', x, sin), op('mul', y, cos)),
  ];
  const [[sizeX, middleX], [sizeY, middleY]] = turned.map((values) => {
    const [low, high] = ['reduce_min', 'reduce_max'].map((reduce) =>
      node.call(reduce, [values], { axes: [0], keepdims: true }),
    ) as [Expr, Expr];
    return [op('sub', high, low), op('mul', op('add', high, low), number(0.5))];
  }) as [[Expr, Expr], [Expr, Expr]];
  const scaleX = op('mul', sizeX, number(given('scale_x') / width));
  const scaleY = op('mul', sizeY, number(given('scale_y') / height));
  const [a, b] = [op('mul', cos, scaleX), op('mul', sin, scaleY)];
  const [c, d] = [node.call('neg', [op('mul', sin, scaleX)]), op('mul', cos, scaleY)];
  const shifted = (middle: Expr, left: Expr, right: Expr) =>
    op(
      'sub',
      middle,
      op('add', op('mul', left, number(width / 2)), op('mul', right, number(height / 2))),
    );
  const centerX = op('add', op('mul', middleX, cos), op('mul', middleY, sin));
  const centerY = op('sub', op('mul', middleY, cos), op('mul', middleX, sin));
  const last = node.constant(HostTensor.from('float32', [8], [0, 0, 1, 0, 0, 0, 0, 1]));
  const zero = number(0);
  const elements = [a, b, zero, shifted(centerX, a, b), c, d, zero, shifted(centerY, c, d), last];
  return node.reshape(node.call('concat', elements, { axis: 0 }), [1, 4, 4]);
}

/** A crop of a feature map (1, H, W, C) at the places that a matrix gives; 0 where these lie outside. */
function transformTensor(node: LiteNode): Expr {
  requireSecond(node);
  const options = readFlexMap(node.operator.customOptions, node.where);
  const [height, width] = ['output_height', 'output_width'].map((name) =>
    numberOf(node, options, name),
  ) as [number, number];
  if (!(height > 0 && width > 0 && height * width < 2 ** 24)) {
    throw node.malformed(`a crop ${width} by ${height}`, 'above 0');
  }
  const x = node.input(0);
  const [batch, fromHeight = 1, fromWidth = 1] = node.numbers(node.shape(x), 'sizes of a map');
  if (batch !== 1) throw node.unsupported(`${batch} maps`, 'one');
  // Centers of elements are at halves.
  const centers = node.table('float32', [height * width, 2], (i) => {
    const place = Math.floor(i / 2);
    return (i % 2 === 0 ? place % width : Math.floor(place / width)) + 0.5;
  });
  const half = node.scalar(0.5);
  const places = node.call('sub', [transformed(node, centers, node.input(1)), half]);
  const last = node.constant(HostTensor.from('float32', [2], [fromWidth - 1, fromHeight - 1]));
  const isInside = node.call('bitwise_and', [
    node.call('greater_equal', [places, node.scalar(0)]),
    node.call('less_equal', [places, last]),
  ]);
  const inside = node.call('reduce_min', [node.cast(isInside, 'float32')], {
    axes: [1],
    keepdims: false,
  });
  const span = node.constant(
    HostTensor.from(
      'float32',
      [2],
      [2 / Math.max(fromWidth - 1, 1), 2 / Math.max(fromHeight - 1, 1)],
    ),
  );
  const grid = node.call('sub', [node.call('mul', [places, span]), node.scalar(1)]);
  const sampled = node.one(
    'GridSample',
    [node.channelsSecond(x), node.reshape(grid, [1, height, width, 2])],
    { mode: 'linear', padding_mode: 'zeros', align_corners: 1 },
  );
  const mask = node.reshape(inside, [1, 1, height, width]);
  return node.channelsLast(node.call('mul', [sampled, mask]));
}

export const LANDMARK_IMPORTERS: LiteImporters = {
  Landmarks2TransformMatrix: becomes(
    'gather slice atan cos sin reduce_min reduce_max mul add sub neg concat',
    landmarksToMatrix,
  ),
  TransformLandmarks: becomes('gemm slice concat', transformLandmarks),
  TransformTensorBilinear: becomes('grid_sample gemm mul sub reduce_min', transformTensor),
};
