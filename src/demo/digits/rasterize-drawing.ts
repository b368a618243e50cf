/** A point of a drawing, in any unit; y grows downwards. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A pen movement without lifting. One point is a dot. */
export type Stroke = readonly Point[];

export interface Drawing {
  readonly strokes: readonly Stroke[];
  /** Half the width of the pen, in the unit of the points. */
  readonly penRadius: number;
}

/** Random changes of the standard placement; only training uses them. */
export interface Placement {
  /** 1: the longer side of the ink's box takes 20 pixels. */
  readonly scale: number;
  /** Pixels by which the drawing moves to the right; `shiftY` moves it down. */
  readonly shiftX: number;
  readonly shiftY: number;
}

export const IMAGE_SIZE = 28;
const INK_BOX = 20;
/** Thinner lines than this vanish on 28 pixels, thicker ones close the loops. */
const MIN_RADIUS = 0.55;
const MAX_RADIUS = 2.4;
const STANDARD: Placement = { scale: 1, shiftX: 0, shiftY: 0 };

/**
 * The image that the digit network reads, [28, 28] float32, 0 for paper and 1 for ink: the ink's
 * box scaled to 20 x 20 pixels with its aspect kept, its centre of mass in the middle, as in MNIST.
 * Undefined for an empty drawing. Training and page share this function, so that both mean the
 * same by an image.
 */
export function rasterizeDrawing(
  drawing: Drawing,
  placement: Placement = STANDARD,
): Float32Array | undefined {
  const box = inkBox(drawing);
  if (box === undefined) return undefined;
  const scale = (INK_BOX * placement.scale) / Math.max(box.right - box.left, box.bottom - box.top);
  const radius = Math.min(MAX_RADIUS, Math.max(MIN_RADIUS, drawing.penRadius * scale));
  const middle = IMAGE_SIZE / 2;
  const x = middle - (scale * (box.left + box.right)) / 2;
  const y = middle - (scale * (box.top + box.bottom)) / 2;
  const centred = paint(drawing.strokes, { scale, x, y, radius });
  const mass = centreOfMass(centred);
  return paint(drawing.strokes, {
    scale,
    x: x + middle - mass.x + placement.shiftX,
    y: y + middle - mass.y + placement.shiftY,
    radius,
  });
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function inkBox({ strokes, penRadius }: Drawing): Box | undefined {
  let left = Infinity;
  let right = -Infinity;
  let top = Infinity;
  let bottom = -Infinity;
  for (const { x, y } of strokes.flat()) {
    left = Math.min(left, x - penRadius);
    right = Math.max(right, x + penRadius);
    top = Math.min(top, y - penRadius);
    bottom = Math.max(bottom, y + penRadius);
  }
  return left > right ? undefined : { left, right, top, bottom };
}

/** Maps points to pixels: `scale * p + (x, y)`; `radius` is in pixels. */
interface Brush {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

function paint(strokes: readonly Stroke[], brush: Brush): Float32Array {
  const image = new Float32Array(IMAGE_SIZE * IMAGE_SIZE);
  const toPixels = ({ x, y }: Point): Point => ({
    x: brush.scale * x + brush.x,
    y: brush.scale * y + brush.y,
  });
  for (const stroke of strokes) {
    let from: Point | undefined;
    for (const point of stroke) {
      const to = toPixels(point);
      paintSegment(image, from ?? to, to, brush.radius);
      from = to;
    }
  }
  return image;
}

/** Coverage falls from 1 to 0 over one pixel at the edge of the line. */
function paintSegment(image: Float32Array, from: Point, to: Point, radius: number): void {
  const reach = radius + 0.5;
  const firstRow = Math.max(0, Math.floor(Math.min(from.y, to.y) - reach));
  const lastRow = Math.min(IMAGE_SIZE - 1, Math.ceil(Math.max(from.y, to.y) + reach));
  const firstColumn = Math.max(0, Math.floor(Math.min(from.x, to.x) - reach));
  const lastColumn = Math.min(IMAGE_SIZE - 1, Math.ceil(Math.max(from.x, to.x) + reach));
  for (let row = firstRow; row <= lastRow; row++) {
    for (let column = firstColumn; column <= lastColumn; column++) {
      const distance = distanceToSegment({ x: column + 0.5, y: row + 0.5 }, from, to);
      const ink = Math.min(1, reach - distance);
      const index = row * IMAGE_SIZE + column;
      if (ink > (image[index] ?? 0)) image[index] = ink;
    }
  }
}

function distanceToSegment(point: Point, from: Point, to: Point): number {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const lengthSquared = dx * dx + dy * dy;
  const along =
    lengthSquared === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / lengthSquared;
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - from.x - t * dx, point.y - from.y - t * dy);
}

function centreOfMass(image: Float32Array): Point {
  let mass = 0;
  let x = 0;
  let y = 0;
  image.forEach((ink, index) => {
    mass += ink;
    x += ink * ((index % IMAGE_SIZE) + 0.5);
    y += ink * (Math.floor(index / IMAGE_SIZE) + 0.5);
  });
  return mass === 0 ? { x: IMAGE_SIZE / 2, y: IMAGE_SIZE / 2 } : { x: x / mass, y: y / mass };
}
