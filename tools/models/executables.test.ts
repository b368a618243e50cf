import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../src/client/index.ts';
import { seededRandom } from '../../src/core/random.ts';

const SIZE = 192;
const SHAPE = [1, 1, SIZE, SIZE];
const LAPLACIAN = [0.05, 0.2, 0.05, 0.2, -1, 0.2, 0.05, 0.2, 0.05];

function committed(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`../../public/models/${name}`, import.meta.url)));
}

function laplacian(cells: Float32Array, row: number, column: number): number {
  let sum = 0;
  for (const [tap, weight] of LAPLACIAN.entries()) {
    const y = row + Math.floor(tap / 3) - 1;
    const x = column + (tap % 3) - 1;
    if (Math.min(x, y) >= 0 && Math.max(x, y) < SIZE) sum += weight * (cells[y * SIZE + x] ?? 0);
  }
  return sum;
}

/** One step of the model, straight from its two equations. */
function step(u: Float32Array, v: Float32Array, [feed, kill]: readonly [number, number]) {
  const nextU = new Float32Array(u.length);
  const nextV = new Float32Array(v.length);
  for (let i = 0; i < u.length; i++) {
    const [a, b] = [u[i] ?? 0, v[i] ?? 0];
    const [row, column] = [Math.floor(i / SIZE), i % SIZE];
    nextU[i] = a + laplacian(u, row, column) - a * b * b + feed * (1 - a);
    nextV[i] = b + 0.5 * laplacian(v, row, column) + a * b * b - (feed + kill) * b;
  }
  return { u: nextU, v: nextV };
}

describe('reaction-diffusion.weft', () => {
  test('takes the steps that the equations say', async () => {
    const session = await Session.load(committed('reaction-diffusion.weft'), {
      device: 'host',
      worker: false,
    });
    const random = seededRandom(3);
    const rates = [0.0545, 0.062] as const;
    const start = {
      u: Float32Array.from({ length: SIZE * SIZE }, () => 0.5 + random() / 2),
      v: Float32Array.from({ length: SIZE * SIZE }, () => random() / 2),
    };
    const scalar = (value: number) => new Tensor('float32', Float32Array.of(value), []);
    const { u, v } = await session.run({
      u: new Tensor('float32', start.u, SHAPE),
      v: new Tensor('float32', start.v, SHAPE),
      feed: scalar(rates[0]),
      kill: scalar(rates[1]),
      pairs: 2,
    });
    let expected = start;
    for (let i = 0; i < 4; i++) expected = step(expected.u, expected.v, rates);
    const furthest = (got: Tensor | undefined, wanted: Float32Array): number =>
      wanted.reduce((far, value, i) => Math.max(far, Math.abs(value - Number(got?.data[i]))), 0);
    expect(furthest(u, expected.u)).toBeLessThan(1e-5);
    expect(furthest(v, expected.v)).toBeLessThan(1e-5);
    await session.dispose();
  });
});

describe('list-sum.weft', () => {
  test('adds up a list of doubled vectors', async () => {
    const session = await Session.load(committed('list-sum.weft'), {
      device: 'host',
      worker: false,
    });
    const x = new Tensor('float32', Float32Array.of(1, -2, 0.5, 3), [4]);
    const sums: unknown[] = [];
    for (const n of [0, 1, 3]) sums.push((await session.run({ x, n }))['sum']?.toNested());
    expect(sums).toEqual([
      [0, 0, 0, 0],
      [1, -2, 0.5, 3],
      [7, -14, 3.5, 21],
    ]);
    await session.dispose();
  });
});
