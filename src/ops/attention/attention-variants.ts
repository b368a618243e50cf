import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import {
  type AttentionChoice,
  type AttentionSizes,
  type AttentionTile,
  fitsTile,
  mostParts,
  partsOf,
} from './attention-variant.ts';

const LANES: readonly AttentionTile['lanes'][] = [
  [32, 1],
  [32, 2],
  [8, 4],
  [8, 8],
];

/**
 * Variants that a measurement may prefer, by name: tiles, parts of the keys, or products with the scores in
 * memory. Software adapters have products only: workgroup memory is slow there.
 */
export function attentionVariants(
  sizes: AttentionSizes,
  caps: PlannerCaps,
): ReadonlyMap<string, AttentionChoice> {
  if (caps.adapterClass === 'software') return new Map();
  const tiles = LANES.filter(
    (lanes) => fitsTile(sizes, caps, lanes) && lanes[1] <= Math.max(1, sizes.rows / 2),
  ).flatMap((lanes): AttentionTile[] => {
    const usual = partsOf(sizes, caps, lanes);
    const counts = [usual, 1, Math.floor(usual / 2), usual * 2];
    const parts = counts.filter(
      (count) => count === 1 || (count > 1 && count <= mostParts(sizes.keys)),
    );
    return parts.map((count) => ({ lanes, parts: count }));
  });
  return new Map<string, AttentionChoice>([
    ...tiles.map((tile): [string, AttentionChoice] => [
      `${tile.lanes.join(' by ')} lanes, ${tile.parts} parts`,
      { tile },
    ]),
    ['products', { tile: undefined }],
  ]);
}
