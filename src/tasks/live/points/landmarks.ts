import type { Point } from '../../../core/pictures/rectangle.ts';
import { pointIn, type Region, turned } from '../regions/geometry.ts';

/** A point of a face, hand or body in a picture. */
export interface Landmark {
  /** Pixels from the left edge of the picture. It may lie beyond the picture. */
  readonly x: number;
  /** Pixels from the upper edge. */
  readonly y: number;
  /** The depth, in about the same unit: less is nearer to the camera. It has no common origin with other things in the picture. */
  readonly z: number;
}

/** A point in space, in metres. */
export interface WorldPoint {
  /** To the right in the picture. */
  readonly x: number;
  /** Down in the picture. */
  readonly y: number;
  /** Away from the camera. */
  readonly z: number;
}

/** How a model's numbers are points: those of `step` numbers each in pixels of its picture. */
interface ProjectOptions {
  /** Numbers of a point: 3 of which are its place, or 2 without a depth. */
  readonly step: number;
  /** Pixels of both sides of the model's picture. */
  readonly side: number;
  /** Depths are divided by this too. Default 1. */
  readonly depth?: number | undefined;
}

/** Points of a model's picture, which shows a region, as points of the picture itself. */
export function projected(
  numbers: ArrayLike<number>,
  region: Region,
  { step, side, depth = 1 }: ProjectOptions,
): Landmark[] {
  return Array.from({ length: Math.floor(numbers.length / step) }, (_, i) => {
    const at = (k: number): number => (numbers[i * step + k] ?? 0) / side;
    const [x, y] = pointIn(region, at(0), at(1));
    return { x, y, z: step < 3 ? 0 : (at(2) / depth) * region.width };
  });
}

/** Points in metres in the direction of a region as points in that of the picture. */
export function worldPoints(numbers: ArrayLike<number>, { angle }: Region): WorldPoint[] {
  return Array.from({ length: Math.floor(numbers.length / 3) }, (_, i) => {
    const at = (k: number): number => numbers[i * 3 + k] ?? 0;
    const [x, y] = turned([at(0), at(1)], angle);
    return { x, y, z: at(2) };
  });
}

/** The place of a landmark without its depth. */
export const flat = ({ x, y }: Landmark): Point => [x, y];

export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
