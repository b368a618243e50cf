import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';

/** The sizes of attention; rows are the queries of all heads that share keys. */
export interface AttentionSizes {
  /** The batch times the heads of keys. */
  readonly batch: number;
  readonly rows: number;
  readonly keys: number;
  readonly size: number;
  readonly valueSize: number;
}

/** `attention-tile`: blocks of 32 keys against tiles of four rows for each lane along y. */
export interface AttentionTile {
  readonly lanes: readonly [number, number];
  /** Into how many parts keys are cut; those are brought together by a second kernel. */
  readonly parts: number;
}

/** Undefined: products, with the scores in memory. */
export interface AttentionChoice {
  readonly tile: AttentionTile | undefined;
}

/** How many keys a block has. */
export const BLOCK = 32;

const MOST_VECTORS = 4;
/** Workgroups that keep an adapter busy. */
const ENOUGH_GROUPS = { discrete: 256, integrated: 32, software: 1 };
/** Blocks of keys in a part, at least. */
const SHORTEST_PART = 4;
const MOST_PARTS = 64;

/**
 * The tiles of attention, or undefined where products with their scores in memory do it: on software
 * adapters, for which workgroup memory is slow, and for heads too wide for that memory.
 */
export function chooseAttentionTile(
  sizes: AttentionSizes,
  caps: PlannerCaps,
): AttentionTile | undefined {
  if (caps.adapterClass === 'software') return undefined;
  const { rows } = sizes;
  // With few rows lanes share the keys of a block, else also the rows.
  const wanted = rows <= 4 ? 1 : rows <= 8 ? 2 : 8;
  const x = wanted < 8 ? 32 : 8;
  const y = [wanted, wanted / 2].find((count) => count >= 1 && fitsTile(sizes, caps, [x, count]));
  if (y === undefined) return undefined;
  const lanes = [x, y] as const;
  return { lanes, parts: partsOf(sizes, caps, lanes) };
}

/** Returns true if workgroup memory and registers hold a tile. */
export function fitsTile(
  { size, valueSize }: AttentionSizes,
  caps: PlannerCaps,
  [x, y]: AttentionTile['lanes'],
): boolean {
  const quads = Math.ceil(Math.max(size, valueSize) / 4);
  const vectors = y * (quads * 4 + BLOCK + x) + BLOCK * (quads + 1);
  return (
    Math.ceil(valueSize / 4 / x) <= MOST_VECTORS &&
    vectors * 16 <= caps.maxComputeWorkgroupStorageSize
  );
}

/** So many that an adapter is busy. */
export function partsOf(
  { batch, rows, keys }: AttentionSizes,
  { adapterClass }: PlannerCaps,
  lanes: AttentionTile['lanes'],
): number {
  const groups = Math.ceil(rows / (lanes[1] * 4)) * batch;
  const parts = Math.min(
    Math.ceil(ENOUGH_GROUPS[adapterClass] / Math.max(1, groups)),
    mostParts(keys),
  );
  return Math.max(1, parts);
}

/** None shorter than is worth it. */
export function mostParts(keys: number): number {
  return Math.min(Math.floor(keys / (BLOCK * SHORTEST_PART)), MOST_PARTS);
}
