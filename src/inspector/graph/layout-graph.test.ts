import fc from 'fast-check';
import { expect, test } from 'vitest';
import { programGraph } from '../program/program-graph.ts';
import { deepProgram } from '../testing/deep-program.ts';
import { type Layout, layoutGraph } from './layout-graph.ts';

const NODE_WIDTH = 100;
const NODE_HEIGHT = 30;

function layout(nodeCount: number, edges: readonly (readonly number[])[]): Layout {
  return layoutGraph({
    widths: new Float32Array(nodeCount).fill(NODE_WIDTH),
    heights: new Float32Array(nodeCount).fill(NODE_HEIGHT),
    edges: Uint32Array.from(edges.flat()),
  });
}

/** Pairs of nodes that lie on each other. */
function overlaps({ x, y, layers }: Layout): [number, number][] {
  const found: [number, number][] = [];
  const nodesOf: number[][] = [];
  for (const [node, layer] of layers.entries()) (nodesOf[layer] ??= []).push(node);
  for (const nodes of nodesOf.filter(Boolean)) {
    const sorted = nodes.toSorted((a, b) => (x[a] ?? 0) - (x[b] ?? 0));
    for (const [i, node] of sorted.entries()) {
      const next = sorted[i + 1];
      if (next === undefined) continue;
      const isApart = (x[next] ?? 0) - (x[node] ?? 0) >= NODE_WIDTH - 0.1;
      if (!isApart || y[node] !== y[next]) found.push([node, next]);
    }
  }
  return found;
}

test('values go down, straight where nothing is beside them', () => {
  const { x, layers, points, pointStarts } = layout(3, [
    [0, 1],
    [1, 2],
  ]);
  expect([...layers]).toEqual([0, 1, 2]);
  expect(new Set(x).size).toBe(1);
  expect(Array.from(points.slice(0, pointStarts[1]))).toEqual([x[0], 30, x[1], 60]);
});

test('what is read once lies beside its reader, not at the top', () => {
  const { layers } = layout(4, [
    [0, 1],
    [1, 2],
    [3, 2],
  ]);
  expect(layers[3]).toBe(1);
});

test('an edge goes round the nodes that it passes', () => {
  const { points, pointStarts, x } = layout(3, [
    [0, 1],
    [1, 2],
    [0, 2],
  ]);
  const skip = points.slice(pointStarts[2], pointStarts[3]);
  expect(skip).toHaveLength(6);
  expect(Math.abs((skip[2] ?? 0) - (x[1] ?? 0))).toBeGreaterThan(NODE_WIDTH / 2);
});

test('a cycle is drawn with one edge upwards', () => {
  const { layers, points, pointStarts } = layout(3, [
    [0, 1],
    [1, 2],
    [2, 0],
  ]);
  expect([...layers]).toEqual([0, 1, 2]);
  const back = points.slice(pointStarts[2], pointStarts[3]);
  expect(back[1]).toBeGreaterThan(back.at(-1) ?? Infinity);
});

test('nothing and single nodes have a layout', () => {
  expect(layout(0, [])).toMatchObject({ width: 0, height: 0 });
  expect(layout(1, [])).toMatchObject({ width: NODE_WIDTH, height: NODE_HEIGHT });
});

test('in any graph no node lies on another, and edges begin and end at their nodes', () => {
  const graphs = fc.integer({ min: 2, max: 24 }).chain((count) => {
    const node = fc.integer({ min: 0, max: count - 1 });
    const edge = fc.tuple(node, node).filter(([a, b]) => a !== b);
    return fc.tuple(fc.constant(count), fc.array(edge, { maxLength: 60 }));
  });
  fc.assert(
    fc.property(graphs, ([count, edges]) => {
      const result = layout(count, edges);
      const loose = edges.filter(([from, to], i) => {
        const points = result.points.slice(result.pointStarts[i], result.pointStarts[i + 1]);
        const meets = points[0] === result.x[from] && points.at(-2) === result.x[to];
        return !meets || result.layers[from] === result.layers[to];
      });
      const left = Math.min(...result.x) - NODE_WIDTH / 2;
      const right = Math.max(...result.x) + NODE_WIDTH / 2;
      const isInside = left > -0.1 && right < result.width + 0.1;
      expect({ overlaps: overlaps(result), loose, isInside }).toEqual({
        overlaps: [],
        loose: [],
        isInside: true,
      });
    }),
    { seed: 20, numRuns: 100, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: true },
  );
});

test('a deep program stays as narrow as a shallow one', () => {
  const widthOf = (kernelCount: number): number => {
    const { nodes, edges } = programGraph(deepProgram(kernelCount), 'main');
    return layout(nodes.length, edges).width;
  };
  expect(widthOf(520)).toBeLessThan(widthOf(120) * 1.2);
});
