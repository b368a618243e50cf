import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import {
  type Conv,
  type ConvVariant,
  MAX_TILE_KERNEL_W,
  MAX_UNROLLED_TAPS,
  mayGather,
  type TileVariant,
} from './conv2d-lowering.ts';
import { mayUseColumns } from './conv2d-product.ts';
import { type PlaneWindow, tileOffsets, type WindowChoice } from './window-tile.ts';
import { inFours, isWinogradWindow, tileCountOf, winogradBlocks } from './winograd.ts';

/** Variants that a measurement may prefer, by name: kernels, and what each of them computes at once. */
export function convolutionVariants(conv: Conv): ReadonlyMap<string, ConvVariant> {
  const { window, groups, isFloat, caps } = conv;
  const isSoftware = caps.adapterClass === 'software';
  const isWhole = groups === 1 && isFloat;
  const variants: ConvVariant[] = [
    ...(isWhole && isWinogradWindow(window) ? winogradVariants(conv) : []),
    ...(isWhole && mayUseColumns(window, caps) ? [{ kernel: 'columns' } as const] : []),
    ...(!isSoftware && mayGather(conv) ? [{ kernel: 'gathered' } as const] : []),
    ...(window.columns.kernel <= MAX_TILE_KERNEL_W ? tileVariants(conv) : []),
    // Every load is dear there, and this kernel shares none.
    ...(isSoftware ? [] : [{ kernel: 'direct' } as const]),
  ];
  return new Map(variants.map((variant) => [nameOf(variant), variant]));
}

function nameOf(variant: ConvVariant): string {
  if (variant.kernel === 'winograd') {
    return `winograd, ${variant.tiles} tiles, ${variant.rows} channels`;
  }
  if (variant.kernel !== 'tile') return variant.kernel;
  const { channels, pixels, unrolls } = variant;
  return `tile of ${channels} by ${pixels}${unrolls ? ', unrolled' : ''}`;
}

/** Channels of the result are cut where products have tiles of them. */
const CHANNEL_STEP = 64;

/** The default's blocks, and twice and half as many; not so many that a tile of a product is idle. */
function winogradVariants({ window, caps }: Conv): ConvVariant[] {
  const { outChannels } = window;
  const { tiles, rows } = winogradBlocks(window, caps);
  const all = inFours(tileCountOf(window));
  const parts = [tiles, inFours(tiles / 2), tiles * 2].map((count) => Math.min(count, all));
  const counts = [rows, wholeStep(rows / 2), wholeStep(rows * 2), outChannels];
  const winograd = (tiles: number, rows: number) => ({ kernel: 'winograd', tiles, rows }) as const;
  return [
    // Of several parts each needs all weights.
    ...parts.filter((count) => count >= 16).map((count) => winograd(count, outChannels)),
    ...counts.map((count) => winograd(all, Math.min(count, outChannels))),
  ];
}

function wholeStep(channels: number): number {
  return Math.ceil(channels / CHANNEL_STEP) * CHANNEL_STEP;
}

const TILES: readonly (readonly [channels: number, pixels: number])[] = [
  [4, 8],
  [8, 4],
  [4, 4],
  [1, 8],
  [1, 4],
];

function tileVariants({ window, groups }: Conv): TileVariant[] {
  const { outChannels, rows, columns } = window;
  const groupOut = outChannels / groups;
  const mayUnroll = rows.kernel * columns.kernel <= MAX_UNROLLED_TAPS && rows.kernel > 1;
  // Tiles of one channel share nothing; of more than twice the channels most would be idle.
  const tiles = TILES.filter(([channels]) =>
    channels === 1 ? groupOut < 4 : channels < groupOut * 2,
  );
  return tiles.flatMap(([channels, pixels]) =>
    (mayUnroll ? [false, true] : [false]).map((unrolls): TileVariant => {
      return { kernel: 'tile', channels, pixels, unrolls };
    }),
  );
}

/** Variants that a measurement may prefer for poolings and depthwise convolutions, by name: rows of their tiles. */
export function windowVariants(
  window: PlaneWindow,
  { adapterClass }: PlannerCaps,
): ReadonlyMap<string, WindowChoice> {
  const counts = [1, 2, 4, 8].filter((count) => count < window.rows.count * 2);
  const choices = counts
    .map((tileRows): WindowChoice => ({ tileRows }))
    .filter((choice) => tileOffsets(window, choice) !== undefined);
  if (adapterClass !== 'software') choices.push({ tileRows: 0 });
  return new Map(choices.map((choice) => [`${choice.tileRows} rows`, choice]));
}

/** The name of a convolution's place in a plan. */
export function convolutionName({ window, groups }: Conv): string {
  const { batch, channels, outChannels, rows, columns } = window;
  const [kernel, size] = [`${rows.kernel}x${columns.kernel}`, `${rows.count}x${columns.count}`];
  return `convolution ${kernel} of ${channels} to ${outChannels} by ${groups}, ${batch} of ${size}`;
}

/** The name of a window operator's place in a plan. */
export function windowName({ kind, rows, columns, planes }: PlaneWindow): string {
  const [kernel, size] = [`${rows.kernel}x${columns.kernel}`, `${rows.count}x${columns.count}`];
  return `${kind} window ${kernel}, ${planes} of ${size}`;
}
