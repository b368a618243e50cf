import { expect, test } from 'vitest';
import { HostTensor } from '../../core/host-tensor.ts';
import { GraphBuilder } from '../adjoint/graph-builder.ts';
import { asTensor, EagerGraph } from '../testing/eager-graph.ts';
import { randomBits } from './threefry.ts';

/** Threefry-2x32 of 20 rounds as its authors' C writes it; the first word. */
function threefry(counter: readonly [number, number], key: readonly [number, number]): number {
  const keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bda];
  const rotations = [13, 15, 26, 6, 17, 29, 16, 24];
  let x = (counter[0] + key[0]) >>> 0;
  let y = (counter[1] + key[1]) >>> 0;
  for (let round = 0; round < 20; round++) {
    x = (x + y) >>> 0;
    const by = rotations[round % 8] ?? 0;
    y = (((y << by) | (y >>> (32 - by))) ^ x) >>> 0;
    if (round % 4 !== 3) continue;
    const turn = (round + 1) / 4;
    x = (x + (keys[turn % 3] ?? 0)) >>> 0;
    y = (y + (keys[(turn + 1) % 3] ?? 0) + turn) >>> 0;
  }
  return x;
}

test("its authors' first known answer", () => {
  expect(threefry([0, 0], [0, 0])).toBe(0x6b200159);
});

test.each([
  [0, 0],
  [7, 0],
  [-5, 3],
])('bits for the key %i and the stream %i', (key, stream) => {
  const target = new EagerGraph();
  const graph = new GraphBuilder(target);
  const bits = randomBits(graph, target.constant(HostTensor.from('int32', [], [key])), {
    stream,
    shape: [2, 3],
  });
  const wanted = [0, 1, 2, 3, 4, 5].map((i) => threefry([i, 0], [key >>> 0, stream]));
  expect([...asTensor(bits).data].map(Number)).toEqual(wanted);
});
