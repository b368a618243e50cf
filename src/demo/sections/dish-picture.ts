import { DISH_SIZE } from './dish.ts';

type Colour = readonly [number, number, number];

const STOPS: readonly Colour[] = [
  [239, 243, 236],
  [158, 212, 203],
  [45, 140, 134],
  [11, 84, 81],
  [168, 98, 0],
];
/** v above this has the last colour. */
const BRIGHTEST = 0.42;
const LEVELS = 256;
const PALETTE = Array.from({ length: LEVELS }, (_, level) => colourAt(level / (LEVELS - 1)));

/** Paints v, [192 * 192], to a canvas of that size. */
export function paintDish(context: CanvasRenderingContext2D, cells: Float32Array): void {
  const image = context.createImageData(DISH_SIZE, DISH_SIZE);
  const { data } = image;
  for (let i = 0; i < cells.length; i++) {
    const level = Math.round((Math.max(0, cells[i] ?? 0) / BRIGHTEST) * (LEVELS - 1));
    const [red, green, blue] = PALETTE[Math.min(LEVELS - 1, level)] ?? [0, 0, 0];
    data[i * 4] = red;
    data[i * 4 + 1] = green;
    data[i * 4 + 2] = blue;
    data[i * 4 + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

function colourAt(position: number): Colour {
  const scaled = position * (STOPS.length - 1);
  const index = Math.min(STOPS.length - 2, Math.floor(scaled));
  const from = STOPS[index] ?? [0, 0, 0];
  const to = STOPS[index + 1] ?? from;
  const mix = (channel: 0 | 1 | 2): number =>
    Math.round(from[channel] + (to[channel] - from[channel]) * (scaled - index));
  return [mix(0), mix(1), mix(2)];
}

/** Adds a round drop with a soft edge to `spot`, cut off at the dish's edge. Coordinates in cells. */
export function addDrop(spot: Float32Array, x: number, y: number, radius = 5): void {
  const reach = Math.ceil(radius) + 1;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const strength = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(dx, dy)));
      const row = Math.floor(y) + dy;
      const column = Math.floor(x) + dx;
      if (Math.min(row, column) < 0 || Math.max(row, column) >= DISH_SIZE) continue;
      const index = row * DISH_SIZE + column;
      spot[index] = Math.max(spot[index] ?? 0, 0.8 * strength);
    }
  }
}
