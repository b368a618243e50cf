import { FLOAT, plus, times, lesser } from '../../wasm/address.ts';
import { apply, type Expression, i32, type Local, local, locals } from '../../wasm/expression.ts';
import { call, loop, set, type Statement } from '../../wasm/statement.ts';
import { type MatmulProblem, plainProblem } from '../linear/matmul-problem.ts';
import { forUnits, productUnits } from '../linear/product-frame.wasm.ts';
import { COLUMNS, multiplyPanels, tileFunctions } from '../linear/product-panels.wasm.ts';
import { writesOfTiles } from '../lowering/unit-writes.ts';
import type { UnitRange, WasmKernel } from '../lowering/wasm-lowering.ts';
import { paddedVolumes } from './padded-volumes.wasm.ts';
import type { VolumeAxes, WindowAxis } from './window.ts';
import { isWinogradAxis, WINOGRAD_2, WINOGRAD_4, type WinogradFilter } from './winograd-filter.ts';
import {
  imageBytes,
  imageFunction,
  outputFunction,
  productBytes,
  weightBytes,
  weightsPack,
  type WinogradPlan,
} from './winograd-transforms.wasm.ts';

/** Bytes of transformed tiles and their products together, at most about: the second cache is to hold them. */
const LOT_BYTES = 2 ** 19;
/** Panels in a lot at least: all weights are read for each lot. */
const FEWEST_PANELS = 2;
/** To transform an element of an image or a result takes as long as so many products. */
const TRANSFORM = 6;
/** More than so many times the cost is to be saved: weights take two to four times their memory. */
const LEAST_GAIN = 1.25;
/** Of more channels the rounding of larger tiles adds up to half of what the operator tolerates. */
const LARGE_TILE_CHANNELS = 256;

interface WinogradOptions {
  readonly axes: VolumeAxes;
  readonly channels: number;
  readonly outChannels: number;
}

/** The filter that a convolution of one group takes the least time with; undefined where it is none. */
export function findWinograd(options: WinogradOptions): WinogradFilter | undefined {
  const { axes, channels, outChannels } = options;
  const [depth, ...plane] = axes;
  if (depth.size * depth.kernel * depth.count !== 1 || !plane.every(isWinogradAxis)) {
    return undefined;
  }
  const filters = channels > LARGE_TILE_CHANNELS ? [WINOGRAD_2] : [WINOGRAD_2, WINOGRAD_4];
  const costs = filters.map((filter) => costOf(filter, options));
  const least = Math.min(...costs);
  const direct = 9 * inPanels(plane[0].count * plane[1].count) * channels * outChannels;
  return direct > LEAST_GAIN * least ? filters[costs.indexOf(least)] : undefined;
}

/** Multiplications of an image, and what transforms cost in such. */
function costOf(filter: WinogradFilter, { axes, channels, outChannels }: WinogradOptions): number {
  const perTile = channels * outChannels + TRANSFORM * (channels + outChannels);
  return filter.image.length ** 2 * inPanels(tilesOf(filter, axes).tiles) * perTile;
}

/** How many columns whole panels have, those that are idle in the last panel included. */
const inPanels = (columns: number): number => Math.ceil(columns / COLUMNS) * COLUMNS;

function tilesOf(
  { output }: WinogradFilter,
  [, rows, columns]: VolumeAxes,
): Pick<WinogradPlan, 'tiles' | 'across'> {
  const across = Math.ceil(columns.count / output.length);
  return { across, tiles: across * Math.ceil(rows.count / output.length) };
}

/**
 * A convolution by minimal filtering: a lot of tiles of the image is transformed, multiplied with the
 * weights of each point, and transformed back. `problem` has weights and image as a and b.
 */
export function winogradKernel(
  problem: MatmulProblem,
  filter: WinogradFilter,
  options: WinogradOptions,
): WasmKernel {
  const plan = planOf(problem, filter, options);
  const panels = Math.ceil(plan.tiles / COLUMNS);
  const padded = paddedVolumes(inTiles(options.axes, filter), { volumes: plan.channels });
  const points = filter.image.length ** 2;
  return {
    functions: [
      ...padded.functions,
      ...tileFunctions(productOf(plan)),
      imageFunction(plan, padded),
      outputFunction(plan),
    ],
    packs: [weightsPack(plan)],
    scratch: [points * imageBytes(plan), points * productBytes(plan), ...padded.scratch],
    ...productUnits(
      problem,
      panels,
      writesOfTiles({
        planes: plan.outChannels,
        height: plan.height,
        width: plan.width,
        size: filter.output.length,
        across: plan.across,
        tiles: COLUMNS,
      }),
    ),
    work: (problem.batch[0] ?? 1) * costOf(filter, options),
    body: (places) => {
      const [weights] = places.packed;
      const [image, products, copy] = places.scratch;
      if (!(weights && image && products)) return [];
      return forUnits(problem, panels, {
        places,
        body: ({ b, c, y }, range) => [
          ...(copy ? [...padded.fill(copy), ...padded.copy(b, copy)] : []),
          ...forLots(plan, range, (lot) => [
            ...forQuads(lot, (tile, quad) => [
              call('image', [copy ?? b, plus(image, quadOffset(plan, quad)), tile]),
            ]),
            ...multiplyPoints(plan, { weights, image, products }, lot),
            ...forQuads(lot, (tile, quad) => [
              call('output', [plus(products, times(quad, 4 * FLOAT)), y, tile, ...(c ? [c] : [])]),
            ]),
          ]),
        ],
      });
    },
  };
}

function planOf(
  { c }: MatmulProblem,
  filter: WinogradFilter,
  { axes, channels, outChannels }: WinogradOptions,
): WinogradPlan {
  const [, rows, columns] = axes;
  const { tiles, across } = tilesOf(filter, axes);
  const panels = Math.ceil(tiles / COLUMNS);
  const panelBytes = filter.image.length ** 2 * (channels + outChannels) * COLUMNS * FLOAT;
  const most = Math.max(Math.floor(LOT_BYTES / panelBytes), FEWEST_PANELS);
  return {
    filter,
    channels,
    outChannels,
    height: rows.count,
    width: columns.count,
    tiles,
    across,
    lot: Math.ceil(panels / Math.ceil(panels / most)),
    hasBias: c !== undefined,
  };
}

/** Axes of which tiles cover all that windows see. */
function inTiles([depth, rows, columns]: VolumeAxes, { output }: WinogradFilter): VolumeAxes {
  const whole = (axis: WindowAxis): WindowAxis => ({
    ...axis,
    count: Math.ceil(axis.count / output.length) * output.length,
  });
  return [depth, whole(rows), whole(columns)];
}

/** The product of one point: weights times the tiles of a lot. */
const productOf = ({ channels: k, outChannels: m, lot }: WinogradPlan): MatmulProblem =>
  plainProblem({ m, n: lot * COLUMNS, k });

/** Ranges of panels that are in temporary memory together. */
function forLots(
  { lot }: WinogradPlan,
  { first, end }: UnitRange,
  body: (range: UnitRange) => readonly Statement[],
): Statement[] {
  const range = { first: local('i32'), end: local('i32') };
  const next = plus(range.first, lot);
  return loop({ index: range.first, begin: first, end, step: lot }, [
    set(range.end, lesser(next, end)),
    ...body(range),
  ]);
}

/** Four tiles after the other: the index of the first one, and how many fours there are before. */
function forQuads(
  { first, end }: UnitRange,
  body: (tile: Expression, quad: Local) => readonly Statement[],
): Statement[] {
  const quad = local('i32');
  const count = times(apply('i32.sub', end, first), COLUMNS / 4);
  return loop({ index: quad, end: count }, body(plus(times(first, COLUMNS), times(quad, 4)), quad));
}

/** The byte offset of four tiles, in panels of two fours. */
const quadOffset = ({ channels }: WinogradPlan, quad: Local): Expression =>
  plus(
    times(apply('i32.shr_u', quad, i32(1)), channels * COLUMNS * FLOAT),
    times(apply('i32.and', quad, i32(1)), 4 * FLOAT),
  );

interface Operands {
  readonly weights: Local;
  readonly image: Local;
  readonly products: Local;
}

function multiplyPoints(
  plan: WinogradPlan,
  { weights, image, products }: Operands,
  { first, end }: UnitRange,
): Statement[] {
  const [point, rows, panels, y] = locals(4);
  const range = { first: local('i32'), end: local('i32') };
  return [
    set(range.first, i32(0)),
    set(range.end, apply('i32.sub', end, first)),
    ...loop({ index: point, end: i32(plan.filter.image.length ** 2) }, [
      set(rows, plus(weights, times(point, weightBytes(plan)))),
      set(panels, plus(image, times(point, imageBytes(plan)))),
      set(y, plus(products, times(point, productBytes(plan)))),
      ...multiplyPanels(productOf(plan), { c: undefined, y }, { rows, panels, ...range }),
    ]),
  ];
}
