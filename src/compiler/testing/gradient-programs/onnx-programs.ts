import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import {
  call,
  callFunction,
  constant,
  func,
  global,
  gradient,
  projection,
  variableOf,
} from '../../ir/build.ts';
import type { Expr, Module } from '../../ir/expr.ts';
import { importOnnx } from '../../../frontend/onnx/import-onnx.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import {
  type Argument,
  type GradientProgram,
  type ProgramFloat,
  randomTensor,
} from './gradient-program.ts';

/** A model whose result is a float of rank 0; its `main` becomes `@f`. */
function modelProgram(
  title: string,
  spec: (float: ProgramFloat) => OnnxModelSpec,
  args: readonly Argument[],
): GradientProgram {
  const module = (float: ProgramFloat) => {
    const { functions, ...others } = importOnnx(writeOnnxModel(spec(float)));
    const renamed = [...functions].map(([name, fn]) => [name === 'main' ? 'f' : name, fn] as const);
    return { ...others, functions: new Map(renamed) };
  };
  return { title, module, args };
}

const scalar = (float: ProgramFloat, value: number) => HostTensor.from(float, [], [value]);
const toSum = (input: string) => ({
  op: 'ReduceSum',
  inputs: [input],
  outputs: ['sum'],
  attributes: { keepdims: 0 },
});

/** A program whose `@f` is the sum of sines of the derivatives of another one's. */
function derivativesOf({ title, module, args }: GradientProgram): GradientProgram {
  const derived = (float: ProgramFloat): Module => {
    const { functions, ...others } = module(float);
    const renamed = [...functions].map(([name, fn]) => [name === 'f' ? 'g' : name, fn] as const);
    const params = (functions.get('f')?.params ?? []).map(({ type }, i) =>
      variableOf(`y${i}`, type),
    );
    const made = callFunction(gradient(global('g')), params);
    const sums = params.flatMap(({ type }, i) => {
      if (type?.kind !== 'tensor' || type.dtype !== float) return [];
      // Small numbers: their differences are exact enough.
      const scaled = call('mul', [projection(projection(made, 1), i), scalarOf(float, 1 / 256)]);
      return [call('reduce_sum', [call('sin', [scaled])])];
    });
    const body = sums.reduce<Expr>((sum, own) => call('add', [sum, own]), scalarOf(float, 0));
    return { ...others, functions: new Map([...renamed, ['f', func(params, body)]]) };
  };
  return { title: `derivatives of ${title}`, module: derived, args };
}

const scalarOf = (float: ProgramFloat, value: number) => constant(scalar(float, value));

/** Models with regions, from ONNX. */
const MODELS: readonly GradientProgram[] = [
  modelProgram(
    'an ONNX Loop that carries a vector and gathers a row of each step',
    (float) => ({
      opset: 13,
      inputs: [
        { name: 'x', dtype: float, shape: ['n'] },
        { name: 'w', dtype: float, shape: [] },
        { name: 'count', dtype: 'int64', shape: [] },
      ],
      initializers: { go: HostTensor.from('bool', [], [1]) },
      nodes: [
        {
          op: 'Loop',
          inputs: ['count', 'go', 'x'],
          outputs: ['last', 'rows'],
          attributes: {
            body: {
              graph: {
                inputs: [
                  { name: 'i', dtype: 'int64', shape: [] },
                  { name: 'on', dtype: 'bool', shape: [] },
                  { name: 'v', dtype: float, shape: ['n'] },
                ],
                nodes: [
                  { op: 'Mul', inputs: ['v', 'w'], outputs: ['scaled'] },
                  { op: 'Sin', inputs: ['scaled'], outputs: ['next'] },
                  { op: 'Add', inputs: ['next', 'x'], outputs: ['row'] },
                  { op: 'Identity', inputs: ['on'], outputs: ['still'] },
                ],
                outputs: ['still', 'next', 'row'],
              },
            },
          },
        },
        { op: 'Mul', inputs: ['rows', 'last'], outputs: ['product'] },
        toSum('product'),
      ],
      outputs: ['sum'],
    }),
    [[0.5, -0.8], 1.3, HostTensor.from('int64', [], [3n])],
  ),
  modelProgram(
    'an ONNX Loop whose condition elements decide',
    (float) => ({
      opset: 13,
      inputs: [{ name: 'x', dtype: float, shape: [] }],
      initializers: {
        go: HostTensor.from('bool', [], [1]),
        limit: scalar(float, 4),
        count: HostTensor.from('int64', [], [20n]),
      },
      nodes: [
        {
          op: 'Loop',
          inputs: ['count', 'go', 'x'],
          outputs: ['last'],
          attributes: {
            body: {
              graph: {
                inputs: [
                  { name: 'i', dtype: 'int64', shape: [] },
                  { name: 'on', dtype: 'bool', shape: [] },
                  { name: 'v', dtype: float, shape: [] },
                ],
                nodes: [
                  { op: 'Mul', inputs: ['v', 'v'], outputs: ['square'] },
                  { op: 'Add', inputs: ['square', 'x'], outputs: ['next'] },
                  { op: 'Less', inputs: ['next', 'limit'], outputs: ['still'] },
                ],
                outputs: ['still', 'next'],
              },
            },
          },
        },
        toSum('last'),
      ],
      outputs: ['sum'],
    }),
    [0.6],
  ),
  modelProgram(
    'an ONNX Scan over rows',
    (float) => ({
      opset: 13,
      inputs: [
        { name: 'h', dtype: float, shape: [2] },
        { name: 'x', dtype: float, shape: ['t', 2] },
        { name: 'w', dtype: float, shape: [2, 2] },
      ],
      nodes: [
        {
          op: 'Scan',
          inputs: ['h', 'x'],
          outputs: ['last', 'ys'],
          attributes: {
            num_scan_inputs: 1,
            body: {
              graph: {
                inputs: [
                  { name: 'state', dtype: float, shape: [2] },
                  { name: 'row', dtype: float, shape: [2] },
                ],
                nodes: [
                  { op: 'MatMul', inputs: ['state', 'w'], outputs: ['turned'] },
                  { op: 'Add', inputs: ['turned', 'row'], outputs: ['added'] },
                  { op: 'Tanh', inputs: ['added'], outputs: ['next'] },
                  { op: 'Mul', inputs: ['next', 'row'], outputs: ['y'] },
                ],
                outputs: ['next', 'y'],
              },
            },
          },
        },
        { op: 'Mul', inputs: ['ys', 'last'], outputs: ['product'] },
        toSum('product'),
      ],
      outputs: ['sum'],
    }),
    [[0.3, -0.4], randomTensor(21, 3, 2), randomTensor(22, 2, 2)],
  ),
  modelProgram(
    'an ONNX If that reads values from around it',
    (float) => ({
      opset: 13,
      inputs: [
        { name: 'x', dtype: float, shape: ['n'] },
        { name: 'w', dtype: float, shape: [] },
      ],
      initializers: { zero: scalar(float, 0) },
      nodes: [
        { op: 'ReduceMax', inputs: ['x'], outputs: ['top'], attributes: { keepdims: 0 } },
        { op: 'Less', inputs: ['zero', 'top'], outputs: ['isAbove'] },
        { op: 'Exp', inputs: ['x'], outputs: ['e'] },
        {
          op: 'If',
          inputs: ['isAbove'],
          outputs: ['y'],
          attributes: {
            then_branch: {
              graph: { nodes: [{ op: 'Mul', inputs: ['e', 'w'], outputs: ['a'] }], outputs: ['a'] },
            },
            else_branch: {
              graph: { nodes: [{ op: 'Sin', inputs: ['x'], outputs: ['b'] }], outputs: ['b'] },
            },
          },
        },
        toSum('y'),
      ],
      outputs: ['sum'],
    }),
    [[0.5, -0.8], 1.3],
  ),
];

/** Models with regions, and their derivatives. */
export const ONNX_PROGRAMS: readonly GradientProgram[] = [...MODELS, ...MODELS.map(derivativesOf)];
