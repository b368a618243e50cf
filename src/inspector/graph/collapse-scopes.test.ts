import { expect, test } from 'vitest';
import { programGraph } from '../program/program-graph.ts';
import { deepProgram } from '../testing/deep-program.ts';
import { collapseScopes, scopesOf } from './collapse-scopes.ts';

const graph = programGraph(deepProgram(24), 'main');

test('scopes come with the number of their nodes', () => {
  expect(scopesOf(graph).slice(0, 3)).toEqual([
    { key: 'layers.0', depth: 1, nodeCount: 13 },
    { key: 'layers.0/attention', depth: 2, nodeCount: 6 },
    { key: 'layers.0/mlp', depth: 2, nodeCount: 3 },
  ]);
});

test('with nothing collapsed the graph is itself', () => {
  const { nodes, edges } = collapseScopes(graph, new Set());
  expect(nodes.map((node) => node.nodes)).toEqual(graph.nodes.map((_, i) => [i]));
  expect(edges).toEqual(graph.edges);
});

test('a scope is one node, with the edges that leave it', () => {
  const { nodes, edges } = collapseScopes(graph, new Set(['layers.0/attention', 'layers.1']));
  const labels = nodes.map(({ label }) => label);
  expect(labels.filter((label) => label === 'attention' || label === 'layers.1')).toHaveLength(2);
  const named = edges.map(([from, to]) => `${labels[from]} ${labels[to]}`);
  expect(named).toContain('norm1 attention');
  expect(named).toContain('attention add1');
  expect(named).toContain('add2 layers.1');
  expect(named.filter((edge) => edge === 'add2 layers.1')).toHaveLength(1);
  expect(nodes.flatMap((node) => node.nodes).toSorted((a, b) => a - b)).toEqual([
    ...graph.nodes.keys(),
  ]);
});

test('the outermost scope that is collapsed hides those in it', () => {
  const inner = collapseScopes(graph, new Set(['layers.0', 'layers.0/mlp']));
  expect(inner.nodes.filter(({ kind }) => kind === 'scope').map(({ scope }) => scope)).toEqual([
    'layers.0',
  ]);
});
