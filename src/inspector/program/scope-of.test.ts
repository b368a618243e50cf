import { expect, test } from 'vitest';
import { commonScope, scopeOf, shortPlace } from './program-graph.ts';

test.each([
  ['/encoder/layer.0/Add', ['encoder', 'layer.0'], 'Add'],
  ['encoder.layer.0.output.add', ['encoder', 'layer.0', 'output'], 'add'],
  ['Conv_12', [], 'Conv_12'],
  ['model.3', [], 'model.3'],
])('%s', (source, scope, label) => {
  expect(scopeOf({ source })).toEqual(scope);
  expect(shortPlace({ source })).toBe(label);
});

test('a line of a text lies in no scope', () => {
  const place = { source: 'models/net.ir', line: 3, column: 5 };
  expect(scopeOf(place)).toEqual([]);
  expect(shortPlace(place)).toBe('models/net.ir:3:5');
});

test('a kernel of several nodes lies where all of them do', () => {
  const places = ['/a/b/x', '/a/b/y', '/a/c/z'].map((source) => ({ source }));
  expect(commonScope(places)).toEqual(['a']);
  expect(commonScope(places.slice(0, 2))).toEqual(['a', 'b']);
  expect(commonScope([])).toEqual([]);
});
