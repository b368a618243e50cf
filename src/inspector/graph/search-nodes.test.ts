import { expect, test } from 'vitest';
import type { GraphNode } from '../program/program-graph.ts';
import { searchNodes } from './search-nodes.ts';

function node(source: string, name: string): GraphNode {
  const parts = source.split('/').filter((part) => part !== '');
  return {
    kind: 'kernel',
    label: parts.at(-1) ?? '',
    name,
    operators: [name],
    places: [{ source }],
    scope: parts.slice(0, -1),
    instruction: 0,
    types: [],
    isOnHost: false,
  };
}

const NODES = [
  node('/layers.10/scores', 'matmul'),
  node('/old_layers.1x/scores', 'matmul'),
  node('/layers.1/scores', 'matmul'),
  node('/layers.1/weights', 'softmax'),
  node('/layers.1/scores', 'matmul'),
];

const found = (query: string) => searchNodes(NODES, query).map(({ text, nodes }) => [text, nodes]);

test('whole parts of names come first, then those that begin so, then all others', () => {
  expect(found('layers.1 scores')).toEqual([
    ['layers.1/scores (matmul)', [2, 4]],
    ['layers.10/scores (matmul)', [0]],
    ['old_layers.1x/scores (matmul)', [1]],
  ]);
  expect(found('layers.1/scores')[0]).toEqual(['layers.1/scores (matmul)', [2, 4]]);
  expect(found('/layers.10')).toEqual([['layers.10/scores (matmul)', [0]]]);
});

test('each name is found once, by operator too; nothing is found for nothing', () => {
  expect(found('SOFT')).toEqual([['layers.1/weights (softmax)', [3]]]);
  expect(found('matmul')).toHaveLength(3);
  expect(found('none')).toEqual([]);
  expect(found('  ')).toEqual([]);
});
