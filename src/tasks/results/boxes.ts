import { fits, listOf, type OptionKind, requireKind } from '../../core/check-options.ts';

/** A rectangle in pixels of the picture that was given. */
export interface Box {
  /** Its left edge. */
  readonly left: number;
  /** Its upper edge. */
  readonly top: number;
  /** The extent from left to right. */
  readonly width: number;
  /** The extent from top to bottom. */
  readonly height: number;
}

/** A box that was found, and how sure the model is. */
export interface ScoredBox {
  /** The rectangle around the thing. */
  readonly box: Box;
  /** How sure the model is, from 0 to 1. */
  readonly score: number;
  /** The number of its class; only boxes of one class suppress each other. */
  readonly index: number;
}

/** The area that two boxes share, of the area that both cover together. */
export function overlap(a: Box, b: Box): number {
  for (const box of [a, b]) requireKind('overlap', BOX, ['a box that is', box]);
  return shareOf(a, b);
}

function shareOf(a: Box, b: Box): number {
  const across = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
  const down = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
  const shared = Math.max(across, 0) * Math.max(down, 0);
  const all = a.width * a.height + b.width * b.height - shared;
  return all > 0 ? shared / all : 0;
}

/**
 * Non-maximum suppression: of boxes of one class that overlap by more than `threshold`, the one with the highest score stays. The best
 * come first; of equal scores the first one. `measure` says by how much two of them overlap, from 0 to 1; the default is that of their boxes.
 */
export function suppress<Found extends ScoredBox>(
  boxes: readonly Found[],
  threshold = 0.5,
  measure: (a: Found, b: Found) => number = (a, b) => shareOf(a.box, b.box),
): Found[] {
  requireKind('suppress', listOf(['{ box, score, index }', isScored]), ['boxes that are', boxes]);
  requireKind('suppress', 'number', ['the threshold', threshold]);
  const kept: Found[] = [];
  for (const candidate of boxes.toSorted((a, b) => b.score - a.score)) {
    const isCovered = kept.some(
      (other) => other.index === candidate.index && measure(other, candidate) > threshold,
    );
    if (!isCovered) kept.push(candidate);
  }
  return kept;
}

const BOX: OptionKind = [
  '{ left, top, width, height }',
  (value) =>
    ['left', 'top', 'width', 'height'].every((side) => fits('number', Object(value)[side])),
];

function isScored(value: unknown): boolean {
  return fits(BOX, (Object(value) as Partial<ScoredBox>).box);
}

/** The part of a box inside of a picture. */
export function clipped(
  { left, top, width, height }: Box,
  size: { width: number; height: number },
): Box {
  const inside = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
  const [x, y] = [inside(left, size.width), inside(top, size.height)];
  return {
    left: x,
    top: y,
    width: inside(left + width, size.width) - x,
    height: inside(top + height, size.height) - y,
  };
}
