import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
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
  [false, [0x6b200159, 0x1cb996fc, 0xc4923a9c]],
  [true, [0x99ba4efe, 0xbb002be7, 0x483df7a0]],
])("the operator's words are its authors' known answers, second %s", (second, expected) => {
  const target = new EagerGraph();
  const words = (...values: number[]) => target.constant(HostTensor.from('uint32', [3], values));
  const inputs = [
    words(0, 0xffff_ffff, 0x1319_8a2e),
    words(0, 0xffff_ffff, 0x0370_7344),
    words(0, 0xffff_ffff, 0x243f_6a88),
    words(0, 0xffff_ffff, 0x85a3_08d3),
  ];
  const result = new GraphBuilder(target).call('threefry', inputs, { second });
  expect(Array.from(asTensor(result).data, Number)).toEqual(expected);
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
