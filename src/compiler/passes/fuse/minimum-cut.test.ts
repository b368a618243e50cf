import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { FlowNetwork } from './minimum-cut.ts';

type Edges = readonly (readonly [from: number, to: number, capacity: number])[];

const SOURCE = 0;
const SINK = 1;

function cutOf(vertexCount: number, edges: Edges): ReadonlySet<number> {
  const network = new FlowNetwork();
  for (let i = 0; i < vertexCount; i++) network.addVertex();
  for (const edge of edges) network.addEdge(...edge);
  return network.cut(SOURCE, SINK);
}

function costOf(side: ReadonlySet<number>, edges: Edges): number {
  return edges.reduce(
    (sum, [from, to, cost]) => sum + (!side.has(from) && side.has(to) ? cost : 0),
    0,
  );
}

test('costs as little as the best of all cuts', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const vertexCount = 3 + (seed % 5);
    const random = seededRandom(seed);
    const draw = (below: number): number => Math.floor(random() * below);
    const edges = Array.from({ length: 3 * vertexCount }, () => {
      return [draw(vertexCount), draw(vertexCount), draw(9)] as const;
    }).filter(([from, to]) => from !== to);
    const side = cutOf(vertexCount, edges);
    expect(side.has(SINK) && !side.has(SOURCE)).toBe(true);
    let best = Number.POSITIVE_INFINITY;
    for (let bits = 0; bits < 2 ** (vertexCount - 2); bits++) {
      const chosen = Array.from({ length: vertexCount - 2 }, (_, i) => i + 2);
      const other = new Set([SINK, ...chosen.filter((_, i) => (bits >> i) % 2 === 1)]);
      best = Math.min(best, costOf(other, edges));
    }
    expect(costOf(side, edges)).toBe(best);
  }
});

test('takes as few as can be to the side of the sink', () => {
  expect([...cutOf(3, [])]).toEqual([SINK]);
  const equal: Edges = [
    [SOURCE, 2, 1],
    [2, SINK, 1],
  ];
  expect([...cutOf(3, equal)]).toEqual([SINK]);
});

test('edges without a bound are never cut, and long chains take no stack', () => {
  const length = 20_000;
  const chain: (readonly [number, number, number])[] = [[SOURCE, 2, 2]];
  for (let i = 2; i < length; i++) chain.push([i, i + 1, i === 500 ? 1 : Number.POSITIVE_INFINITY]);
  chain.push([length, SINK, Number.POSITIVE_INFINITY]);
  const side = cutOf(length + 1, chain);
  expect(side.has(500)).toBe(false);
  expect(side.has(501)).toBe(true);
});
