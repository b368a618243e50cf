import { expect, test } from 'vitest';
import { programGraph } from '../program/program-graph.ts';
import { deepProgram } from '../testing/deep-program.ts';
import { collapseScopes } from './collapse-scopes.ts';
import { GraphScene } from './graph-scene.ts';
import { layoutGraph } from './layout-graph.ts';
import { nodeHeight, nodeWidth } from './node-size.ts';

const graph = collapseScopes(programGraph(deepProgram(240), 'main'), new Set());
const layout = layoutGraph({
  widths: Float32Array.from(graph.nodes, nodeWidth),
  heights: Float32Array.from(graph.nodes, nodeHeight),
  edges: Uint32Array.from(graph.edges.flat()),
});
const scene = new GraphScene(graph, layout);

test.each([
  { left: 0, top: 0, right: 300, bottom: 400 },
  { left: 120, top: 1010, right: 260, bottom: 1020 },
  { left: -500, top: 3000, right: 5000, bottom: 3300 },
  { left: 0, top: -900, right: 900, bottom: -800 },
])('nodes in %o are those that overlap it', (area) => {
  const overlapping = [...graph.nodes.keys()].filter((node) => {
    const [x = 0, y = 0] = [layout.x[node], layout.y[node]];
    const [w, h] = [(scene.widths[node] ?? 0) / 2, (scene.heights[node] ?? 0) / 2];
    return x + w >= area.left && x - w <= area.right && y + h >= area.top && y - h <= area.bottom;
  });
  expect(scene.nodesIn(area).toSorted((a, b) => a - b)).toEqual(overlapping);
});

test('edges in an area are those that cross its height, each once', () => {
  const area = { left: 0, top: 1000, right: 900, bottom: 1400 };
  const found = scene.edgesIn(area);
  expect(new Set(found).size).toBe(found.length);
  const crossing = [...graph.edges.keys()].filter((edge) => {
    const ys = layout.points
      .slice(layout.pointStarts[edge], layout.pointStarts[edge + 1])
      .filter((_, i) => i % 2 === 1);
    return Math.min(...ys) <= area.bottom && Math.max(...ys) >= area.top;
  });
  expect(crossing.length).toBeGreaterThan(10);
  expect(crossing.filter((edge) => !found.includes(edge))).toEqual([]);
  expect(found.length).toBeLessThan(crossing.length + 60);
});

test('the node at a point, and its neighbours', () => {
  const node = graph.nodes.findIndex(({ label }) => label === 'key');
  expect(scene.nodeAt(layout.x[node] ?? 0, layout.y[node] ?? 0)).toBe(node);
  expect(scene.nodeAt(-50, 0)).toBeUndefined();
  const beside = ([-1, 1] as const).map(
    (step) => graph.nodes[scene.beside(node, step) ?? -1]?.label,
  );
  expect(new Set(beside)).toEqual(new Set(['query', 'value']));
  expect(scene.inputs[node]?.map((input) => graph.nodes[input]?.label)).toEqual(['norm1']);
  expect(scene.outputs[node]?.map((output) => graph.nodes[output]?.label)).toEqual(['scores']);
});
