import { expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { ExecBuilder } from '../../bytecode/index.ts';
import { sampleExecutable } from '../../bytecode/testing/sample-executable.ts';
import { deepProgram } from '../testing/deep-program.ts';
import { type ProgramGraph, programGraph } from './program-graph.ts';

/** Each edge as `from -> to`, by the names of nodes. */
function edgesOf({ nodes, edges }: ProgramGraph): string[] {
  return edges.map(([from, to]) => `${nodes[from]?.name} -> ${nodes[to]?.name}`).toSorted();
}

const compiled = (text: string) => compile(parseModule(text));

test('values go from kernels to kernels, and through tuples', () => {
  const graph = programGraph(
    compiled(`def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 4), float32]) {
      let %a = relu(matmul(%x, %w));
      let %b = softmax(matmul(%a, %w));
      (%b, add(%a, %b))
    }`),
    'main',
  );
  expect(edgesOf(graph)).toEqual([
    'add -> ret',
    'matmul -> softmax',
    'matmul_relu -> add',
    'matmul_relu -> matmul',
    'softmax -> add',
    'softmax -> ret',
    'w -> matmul',
    'w -> matmul_relu',
    'x -> matmul_relu',
  ]);
  const fused = graph.nodes.find(({ name }) => name === 'matmul_relu');
  expect(fused).toMatchObject({
    kind: 'kernel',
    operators: ['matmul', 'relu'],
    types: ['Tensor[(n, 4), float32]'],
    isOnHost: false,
  });
});

test('where ways meet, a value comes from all of them', () => {
  const graph = programGraph(
    compiled(`def @main(%x: Tensor[(3,), float32], %n: int) {
      let %y = if (int_lt(%n, #1)) { exp(%x) } else { tanh(%x) };
      neg(%y)
    }`),
    'main',
  );
  expect(edgesOf(graph)).toEqual([
    'exp -> neg',
    'neg -> ret',
    'tanh -> neg',
    'x -> exp',
    'x -> tanh',
  ]);
});

test('a loop reads what it has written before', () => {
  const graph = programGraph(
    compiled(`def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
      if (int_lt(%n, #1)) { %x } else { @main(exp(%x), int_sub(%n, #1)) }
    }`),
    'main',
  );
  expect(graph.nodes.map(({ kind }) => kind)).toContain('function');
  expect(edgesOf(graph)).toContain('exp -> main');
});

test('a jump back to the first instruction ends', () => {
  const b = new ExecBuilder();
  const f = b.function('main', ['x', 'n']);
  const [again, end] = [f.label(), f.label()];
  f.place(again);
  f.call('test.step', [f.param('x')], { into: f.param('x') });
  f.if(f.param('n'), end);
  f.goto(again);
  f.place(end);
  f.ret(f.param('x'));
  const graph = programGraph(b.build(), 'main');
  expect(edgesOf(graph)).toEqual(['test.step -> ret', 'test.step -> test.step', 'x -> test.step']);
});

test('nodes are named as in the source, and lie in its scopes', () => {
  const { nodes } = programGraph(deepProgram(12), 'main');
  const scores = nodes.find(({ label }) => label === 'scores');
  expect(scores).toMatchObject({ name: 'matmul', scope: ['layers.0', 'attention'] });
  const { nodes: sample } = programGraph(sampleExecutable(), 'main');
  expect(sample.find(({ kind }) => kind === 'kernel')?.label).toBe('conv 1 +1');
});

test('a program of many kernels has an edge for each value that is read', () => {
  const { nodes, edges } = programGraph(deepProgram(3000), 'main');
  expect(nodes.filter(({ kind }) => kind === 'kernel')).toHaveLength(231 * 13);
  // Eighteen reads in each layer of thirteen kernels, and the result.
  expect(edges).toHaveLength(231 * 18 + 1);
});

test('a function that does not exist is named with those that do', () => {
  expect(() => programGraph(deepProgram(1), 'other')).toThrow(
    'inspector: got the function other, expected one of main.',
  );
});
