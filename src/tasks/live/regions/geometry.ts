import type { Point } from '../../../core/pictures/rectangle.ts';
import type { RegionSteps } from '../../../core/pictures/sample-region.ts';
import type { Size } from '../../pictures/picture-options.ts';
import type { Box } from '../../results/boxes.ts';

/** A part of a picture at any angle, in pixels of it: its left upper corner is (0, 0), the middle of its first pixel (0.5, 0.5). */
export interface Region {
  readonly center: Point;
  readonly width: number;
  readonly height: number;
  /** By how much it is turned clockwise, in radians. */
  readonly angle: number;
}

/** All of a picture. */
export function wholeRegion({ width, height }: Size): Region {
  return { center: [width / 2, height / 2], width, height, angle: 0 };
}

/** The smallest region around another one that has the proportions of a size: a letterbox. */
export function fitted(region: Region, { width, height }: Size): Region {
  const scale = Math.max(region.width / width, region.height / height);
  return { ...region, width: width * scale, height: height * scale };
}

/** How regions become elements of a model. */
export interface RegionInput {
  readonly size: Size;
  /** The elements of black and of white. */
  readonly range: readonly [black: number, white: number];
  /** True: beyond the picture it is black. False: its edge goes on. */
  readonly isBlackOutside: boolean;
  /** True if channels come last. */
  readonly isLast: boolean;
}

/** The steps that sample a region of a picture. */
export function regionSteps(region: Region, input: RegionInput): RegionSteps {
  const { size, range, isBlackOutside, isLast } = input;
  const { width, height } = size;
  const origin = pointIn(region, 0, 0);
  const across = difference(pointIn(region, 1 / width, 0), origin);
  const down = difference(pointIn(region, 0, 1 / height), origin);
  const begin = pointIn(region, 0.5 / width, 0.5 / height);
  const factor = (range[1] - range[0]) / 255;
  return {
    size: [width, height],
    begin,
    across,
    down,
    factor,
    shift: range[0],
    isBlackOutside,
    isLast,
  };
}

const difference = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1]];

/** The point of the picture at shares of a region's width and height: (0, 0) is its own left upper corner. */
export function pointIn({ center, width, height, angle }: Region, u: number, v: number): Point {
  const [x, y] = turned([(u - 0.5) * width, (v - 0.5) * height], angle);
  return [center[0] + x, center[1] + y];
}

/** A point turned clockwise around (0, 0). */
export function turned([x, y]: Point, angle: number): Point {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [x * cos - y * sin, x * sin + y * cos];
}

/** The angle by which a region has to be turned so that the way from one point to another goes right in it, or up. */
export function angleAlong(from: Point, to: Point, direction: 'right' | 'up'): number {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  return direction === 'right' ? angle : wrapped(angle + Math.PI / 2);
}

/** An angle from -π to below π. */
const wrapped = (angle: number): number =>
  angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI));

/** The box around points. */
export function boundsOf(points: readonly Point[]): Box {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top };
}

/** A box as a region of its size, turned around its middle. */
export function regionOfBox({ left, top, width, height }: Box, angle: number): Region {
  return { center: [left + width / 2, top + height / 2], width, height, angle };
}

/** The smallest region of an angle around points. */
export function turnedBounds(points: readonly Point[], angle: number): Region {
  const upright = regionOfBox(boundsOf(points.map((point) => turned(point, -angle))), angle);
  return { ...upright, center: turned(upright.center, angle) };
}

/** The square around a point whose half side is the way to another one, which lies above it. */
export function squareAround(center: Point, above: Point): Region {
  const side = 2 * Math.hypot(above[0] - center[0], above[1] - center[1]);
  return { center, width: side, height: side, angle: angleAlong(center, above, 'up') };
}

/** The square of the longer side, times `scale`, after a move downwards by a share of the height. */
export function expanded(region: Region, scale: number, shift = 0): Region {
  const [x, y] = turned([0, region.height * shift], region.angle);
  const side = Math.max(region.width, region.height) * scale;
  const center: Point = [region.center[0] + x, region.center[1] + y];
  return { ...region, center, width: side, height: side };
}

/** The box of a region's size around its middle, which says what overlaps. */
export function uprightBox({ center, width, height }: Region): Box {
  return { left: center[0] - width / 2, top: center[1] - height / 2, width, height };
}
