import {
  DeviceTensor,
  type OutputValue,
  type Profile,
  type ResumedState,
  type Session,
  Tensor,
} from '../../client/index.ts';

export const DISH_SIZE = 192;
const SHAPE = [1, 1, DISH_SIZE, DISH_SIZE];

/** Rates of the Gray-Scott model and how people call what grows. */
export interface Pattern {
  readonly name: string;
  readonly feed: number;
  readonly kill: number;
}

export const PATTERNS: readonly Pattern[] = [
  { name: 'Coral', feed: 0.0545, kill: 0.062 },
  { name: 'Dividing cells', feed: 0.0367, kill: 0.0649 },
  { name: 'Fingerprint', feed: 0.037, kill: 0.06 },
  { name: 'Worms', feed: 0.058, kill: 0.065 },
  { name: 'Holes', feed: 0.039, kill: 0.058 },
  { name: 'Waves', feed: 0.014, kill: 0.045 },
];

type Cells = Tensor | DeviceTensor;

/**
 * The state of a reaction-diffusion session. It stays on the device between runs; only the picture
 * comes to the page. Calls must not overlap.
 */
export class Dish {
  /** Steps since the last {@link reset}. */
  steps = 0;
  /** Steps of the run that is under way. */
  pending = 0;
  readonly #session: Session;
  #u: Cells = cellsOf(1);
  #v: Cells = cellsOf(0);

  constructor(session: Session) {
    this.#session = session;
  }

  reset(): void {
    this.steps = 0;
    this.#replace(cellsOf(1), cellsOf(0));
  }

  get cells(): Readonly<Record<'u' | 'v', Cells>> {
    return { u: this.#u, v: this.#v };
  }

  /** Goes on with cells that a snapshot held. */
  restore(steps: number, cells: Readonly<Record<string, OutputValue>>): void {
    const { u, v } = cells;
    if (!(u instanceof DeviceTensor && v instanceof DeviceTensor)) return;
    this.steps = steps;
    this.#replace(u, v);
  }

  /** Adds reagent where `spot` [192 * 192] is above 0. */
  async drop(spot: Float32Array): Promise<void> {
    const inputs = { u: this.#u, v: this.#v, spot: new Tensor('float32', spot, SHAPE) };
    this.#keep(await this.#session.run(inputs, { function: 'drop', keep: 'device' }));
  }

  /** Takes an even number of steps in one run. */
  async advance(steps: number, pattern: Pattern): Promise<void> {
    const inputs = this.#inputs(steps, pattern);
    await this.#take(steps, async () => {
      this.#keep(await this.#session.run(inputs, { keep: 'device' }));
    });
  }

  /** As {@link advance}, and tells what each kernel took. The state passes through the page. */
  async advanceProfiled(steps: number, pattern: Pattern): Promise<Profile> {
    return this.#take(steps, async () => {
      const profile = await this.#session.profile(this.#inputs(steps, pattern));
      this.#keep(profile.outputs);
      return profile;
    });
  }

  /** How much v there is in each cell, [192 * 192], about 0 to 0.5. */
  async read(): Promise<Float32Array> {
    const cells = this.#v instanceof DeviceTensor ? await this.#v.read() : this.#v;
    return cells.data as Float32Array;
  }

  async #take<T>(steps: number, run: () => Promise<T>): Promise<T> {
    this.pending = steps;
    try {
      const result = await run();
      this.steps += steps;
      return result;
    } finally {
      this.pending = 0;
    }
  }

  #inputs(steps: number, { feed, kill }: Pattern) {
    return {
      u: this.#u,
      v: this.#v,
      feed: new Tensor('float32', Float32Array.of(feed), []),
      kill: new Tensor('float32', Float32Array.of(kill), []),
      pairs: steps / 2,
    };
  }

  #keep({ u, v }: Readonly<Record<string, Cells>>): void {
    if (u !== undefined && v !== undefined) this.#replace(u, v);
  }

  #replace(u: Cells, v: Cells): void {
    for (const old of [this.#u, this.#v]) if (old instanceof DeviceTensor) old.dispose();
    this.#u = u;
    this.#v = v;
  }
}

/** The settings of a dish beside its cells, as a snapshot notes them. */
export interface DishNote {
  readonly steps: number;
  /** Steps of the run that was under way. */
  readonly pending: number;
  /** Index of the pattern. */
  readonly pattern: number;
}

/** Puts a dish back to where it was, once the run that was under way is over. */
export async function restoreDish(dish: Dish, { runs, tensors, note }: ResumedState) {
  const { steps, pending, pattern } = JSON.parse(note) as DishNote;
  dish.restore(steps, tensors);
  for (const run of runs) {
    const cells = await run.result({ keep: 'device' });
    dish.restore(steps + (run.entry === 'main' ? pending : 0), cells);
  }
  return { steps: dish.steps, pattern };
}

function cellsOf(value: number): Tensor {
  return new Tensor('float32', new Float32Array(DISH_SIZE * DISH_SIZE).fill(value), SHAPE);
}

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
