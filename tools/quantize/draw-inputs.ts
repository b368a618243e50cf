import { HostTensor } from '../../src/core/tensor/host-tensor.ts';

export type Random = () => number;

/** A picture as a camera sees one: a gradient, soft shapes of one colour each, and a little noise; from 0 to 1. */
export function drawPicture(
  random: Random,
  [channels, height, width]: readonly [number, number, number],
): Float32Array {
  const colour = (): number[] => Array.from({ length: channels }, () => random());
  const [from, to, angle] = [colour(), colour(), 2 * Math.PI * random()];
  const shapes = Array.from({ length: 3 + Math.floor(6 * random()) }, () => ({
    colour: colour(),
    x: random(),
    y: random(),
    radius: 0.05 + 0.3 * random(),
    stretch: 0.4 + 1.2 * random(),
    isBox: random() < 0.4,
    edge: 0.004 + 0.05 * random() ** 2,
  }));
  const noise = 0.03 * random();
  const pixels = new Float32Array(channels * height * width);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [y, x] = [row / height, column / width];
      const along = 0.5 + (x - 0.5) * Math.cos(angle) + (y - 0.5) * Math.sin(angle);
      const values = from.map((value, c) => value + ((to[c] ?? 0) - value) * along);
      for (const shape of shapes) {
        const [dx, dy] = [Math.abs(x - shape.x), Math.abs(y - shape.y) * shape.stretch];
        const distance = shape.isBox ? Math.max(dx, dy) : Math.hypot(dx, dy);
        const cover = Math.min(1, Math.max(0, (shape.radius - distance) / shape.edge + 0.5));
        for (let c = 0; c < channels; c++) {
          const value = values[c] ?? 0;
          values[c] = value + ((shape.colour[c] ?? 0) - value) * cover;
        }
      }
      for (const [c, value] of values.entries()) {
        const at = (c * height + row) * width + column;
        pixels[at] = Math.min(1, Math.max(0, value + noise * (random() - 0.5)));
      }
    }
  }
  return pixels;
}

/** A piece of a voice, of noise or of near silence at 16,000 samples a second. */
export function drawSound(random: Random, length: number): Float32Array {
  const kind = random();
  const noise = kind < 0.3 ? 0.05 + 0.2 * random() : 0.002 + 0.01 * random();
  const pitch = 80 + 180 * random();
  const formants = [300 + 500 * random(), 900 + 1500 * random(), 2200 + 1200 * random()];
  const loudness = kind < 0.3 ? 0 : kind < 0.4 ? 0.01 : 0.1 + 0.5 * random();
  const harmonics = Array.from({ length: 30 }, (_, i) => {
    const frequency = pitch * (i + 1);
    const near = formants.reduce(
      (sum, at) => sum + Math.exp(-(((frequency - at) / 150) ** 2)),
      0.02,
    );
    return { frequency, phase: 2 * Math.PI * random(), size: near / (1 + i / 4) };
  });
  return Float32Array.from({ length }, (_, i) => {
    const time = i / 16_000;
    let value = 0;
    for (const { frequency, phase, size } of harmonics) {
      value += size * Math.sin(2 * Math.PI * frequency * time + phase);
    }
    const heard = 0.3 * loudness * value + noise * (2 * random() - 1);
    return Math.min(1, Math.max(-1, heard));
  });
}

/** Normally distributed numbers. */
export function drawNormal(random: Random, count: number): Float32Array {
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}

/** A tensor of float32, each element by a factor and a sum. */
export const scaledTensor = (
  shape: readonly number[],
  values: Float32Array,
  [factor, sum]: readonly [number, number] = [1, 0],
): HostTensor =>
  new HostTensor(
    'float32',
    shape,
    values.map((value) => value * factor + sum),
  );
