import { DIGIT_SKELETONS, type Skeleton } from './digit-skeletons.ts';
import {
  type Drawing,
  IMAGE_SIZE,
  type Placement,
  type Point,
  rasterizeDrawing,
  type Stroke,
} from './rasterize-drawing.ts';

/** A source of numbers in [0, 1). */
export type Random = () => number;

/** An image of a written digit, [28, 28] float32 from 0 to 1, and which digit it is. */
export interface DigitSample {
  readonly digit: number;
  readonly image: Float32Array;
}

const POINTS_PER_SPAN = 6;

/** The points of a digit as a neat hand writes it, in a box of 100 x 100: no randomness. */
export function neatDigit(digit: number, variant = 0): Stroke[] {
  const skeletons = DIGIT_SKELETONS[digit] ?? [];
  const skeleton = skeletons[variant % Math.max(1, skeletons.length)];
  return (skeleton?.strokes ?? []).map((stroke) => curve(parseStroke(stroke)));
}

/** A digit as some hand writes it: a random skeleton, bent, slanted, rotated, with any pen. */
export function writeDigit(digit: number, random: Random): Drawing {
  const skeleton = choose(DIGIT_SKELETONS[digit] ?? [], random);
  const bend = randomBend(random);
  const sloppiness = 1 + 4.5 * random() ** 2;
  const strokes = skeleton.strokes.map((stroke) => {
    const points = parseStroke(stroke).map((point) => ({
      ...point,
      x: point.x + sloppiness * gaussian(random),
      y: point.y + sloppiness * gaussian(random),
    }));
    return tremble(curve(points), random).map(bend);
  });
  return { strokes, penRadius: 2.6 + 9.5 * random() ** 1.4 };
}

/** A random digit as an image, placed loosely, with noise, blur and pale ink. */
export function sampleDigit(random: Random): DigitSample {
  const digit = Math.floor(random() * 10);
  const loose = random() < 0.5 ? 0 : 1;
  const placement: Placement = {
    scale: 1 + loose * (random() * 0.3 - 0.2),
    shiftX: loose * gaussian(random),
    shiftY: loose * gaussian(random),
  };
  const clean = rasterizeDrawing(writeDigit(digit, random), placement);
  if (clean === undefined) throw new Error(`internal: digit ${digit} has no skeleton`);
  return { digit, image: develop(clean, random) };
}

/** Blur, pale ink and noise, each in some of the images. */
function develop(clean: Float32Array, random: Random): Float32Array {
  const image = random() < 0.35 ? blur(clean, random() * 0.8) : clean;
  const ink = random() < 0.4 ? 0.6 + 0.4 * random() : 1;
  const noise = random() < 0.4 ? 0.12 * random() : 0;
  return image.map((value) => Math.min(1, Math.max(0, ink * value + noise * gaussian(random))));
}

interface SkeletonPoint extends Point {
  readonly corner: boolean;
}

function parseStroke(text: string): SkeletonPoint[] {
  const words = text.split(' ');
  return words.flatMap((word, index) => {
    if (word === '|') return [];
    const [x = 0, y = 0] = word.split(',').map(Number);
    return [{ x, y, corner: words[index + 1] === '|' }];
  });
}

/** A centripetal-like Catmull-Rom curve through the points, broken at corners. */
function curve(points: readonly SkeletonPoint[]): Point[] {
  const first = points[0];
  if (first === undefined) return [];
  const result: Point[] = [{ x: first.x, y: first.y }];
  for (let i = 0; i + 1 < points.length; i++) {
    const from = points[i] ?? first;
    const to = points[i + 1] ?? first;
    const before = from.corner ? from : (points[i - 1] ?? from);
    const after = to.corner ? to : (points[i + 2] ?? to);
    for (let step = 1; step <= POINTS_PER_SPAN; step++) {
      result.push(catmullRom([before, from, to, after], step / POINTS_PER_SPAN));
    }
  }
  return result;
}

function catmullRom(points: readonly [Point, Point, Point, Point], t: number): Point {
  const [a, b, c, d] = points;
  const along = (p: number, q: number, r: number, s: number): number =>
    q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
  return { x: along(a.x, b.x, c.x, d.x), y: along(a.y, b.y, c.y, d.y) };
}

/** The unsteadiness of a hand: a slow random walk along the stroke that forgets itself. */
function tremble(points: readonly Point[], random: Random): Point[] {
  const strength = 0.9 * random();
  let x = 0;
  let y = 0;
  return points.map((point) => {
    x = 0.8 * x + strength * gaussian(random);
    y = 0.8 * y + strength * gaussian(random);
    return { x: point.x + x, y: point.y + y };
  });
}

/** Aspect, slant, rotation and a smooth warp, drawn once for a digit. */
function randomBend(random: Random): (point: Point) => Point {
  const aspect = 0.45 + 0.75 * random();
  const slant = 0.16 + 0.2 * gaussian(random);
  const angle = 0.13 * gaussian(random);
  const warp = 5 * random();
  const phaseX = 2 * Math.PI * random();
  const phaseY = 2 * Math.PI * random();
  return ({ x, y }) => {
    const u = (x - 50) * aspect + warp * Math.sin(y / 22 + phaseX);
    const v = y - 50 + warp * Math.sin(x / 22 + phaseY);
    const slanted = u - slant * v;
    return {
      x: slanted * Math.cos(angle) - v * Math.sin(angle),
      y: slanted * Math.sin(angle) + v * Math.cos(angle),
    };
  };
}

/** Mixes each pixel with its four neighbours; `amount` from 0 to 1. */
function blur(image: Float32Array, amount: number): Float32Array {
  return image.map((value, index) => {
    const column = index % IMAGE_SIZE;
    const left = column > 0 ? (image[index - 1] ?? 0) : 0;
    const right = column < IMAGE_SIZE - 1 ? (image[index + 1] ?? 0) : 0;
    const above = image[index - IMAGE_SIZE] ?? 0;
    const below = image[index + IMAGE_SIZE] ?? 0;
    return value + amount * ((left + right + above + below) / 4 - value) * 0.8;
  });
}

function choose(skeletons: readonly Skeleton[], random: Random): Skeleton {
  let left = random() * skeletons.reduce((sum, { weight }) => sum + weight, 0);
  for (const skeleton of skeletons) {
    left -= skeleton.weight;
    if (left <= 0) return skeleton;
  }
  return skeletons[skeletons.length - 1] ?? { weight: 0, strokes: [] };
}

/** Standard normal, by the Box-Muller transform. */
function gaussian(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
