import { describe, expect, test } from 'vitest';
import { printModule } from '../../../../compiler/ir/text/print.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { type OnnxAttribute, writeOnnxModel } from '../../../../testing/onnx-writer.ts';
import { importOnnx } from '../../import-onnx.ts';

interface NodeSpec {
  readonly op: string;
  readonly opset?: number;
  readonly dtype?: DType;
  readonly inputs: Readonly<Record<string, readonly number[] | HostTensor>>;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly outputs?: readonly string[];
}

/** The body of the function that a model of one node becomes. */
function imported({ op, opset = 20, dtype = 'float32', inputs, ...rest }: NodeSpec): string[] {
  const { attributes = {}, outputs = ['y'] } = rest;
  const initializers: Record<string, HostTensor> = {};
  const params = Object.entries(inputs).flatMap(([name, input]) => {
    if (!(input instanceof HostTensor)) return [{ name, dtype, shape: input }];
    initializers[name] = input;
    return [];
  });
  const nodes = [
    { op, inputs: Object.keys(inputs), outputs: [...outputs], attributes, name: 'node' },
  ];
  const model = writeOnnxModel({
    opset,
    inputs: params,
    initializers,
    nodes,
    outputs: [...outputs],
  });
  const lines = printModule(importOnnx(model)).split('\n');
  return lines.slice(1, lines.indexOf('}')).map((line) => line.trim());
}

const axes = (...values: number[]) => HostTensor.from('int64', [values.length], values);

describe('reductions', () => {
  test('no axes reduce all of them, or none where the node says so', () => {
    const inputs = { x: [2, 3] };
    expect(imported({ op: 'ReduceProd', inputs })).toEqual([
      'reduce_prod(%x, axes=[0, 1], keepdims=true)',
    ]);
    const attributes = { noop_with_empty_axes: 1 };
    expect(imported({ op: 'ReduceL1', inputs, attributes })).toEqual(['abs(%x)']);
  });

  test('a root of integers is computed in float32', () => {
    const inputs = { x: [2, 3], axes: axes(-1) };
    expect(
      imported({ op: 'ReduceL2', dtype: 'int32', inputs, attributes: { keepdims: 0 } }),
    ).toEqual([
      '%0 = cast(%x, to="float32");',
      '%1 = mul(%0, %0);',
      '%2 = reduce_sum(%1, axes=[1], keepdims=false);',
      '%3 = sqrt(%2);',
      'cast(%3, to="int32")',
    ]);
  });

  test('extremes of bools are those of numbers', () => {
    expect(imported({ op: 'ReduceMin', dtype: 'bool', inputs: { x: [4] } })).toEqual([
      '%0 = cast(%x, to="uint32");',
      '%1 = reduce_min(%0, axes=[0], keepdims=true);',
      'cast(%1, to="bool")',
    ]);
  });

  test('a running product takes its axis from an input', () => {
    const inputs = { x: [2, 3], axis: HostTensor.from('int64', [], [-1]) };
    const attributes = { reverse: 1 };
    expect(imported({ op: 'CumProd', opset: 26, inputs, attributes })).toEqual([
      'cumulative(%x, axis=-1, product=true, exclusive=false, reverse=true)',
    ]);
  });

  test('the place of the last maximum, without its axis', () => {
    const attributes = { axis: 1, keepdims: 0, select_last_index: 1 };
    expect(imported({ op: 'ArgMax', inputs: { x: [2, 3] }, attributes })).toEqual([
      '%0 = arg_max(%x, axis=1, select_last=true);',
      'reshape(%0, shape=[2])',
    ]);
  });

  test('an axis outside is refused', () => {
    expect(() => imported({ op: 'ReduceMax', inputs: { x: [2], axes: axes(1) } })).toThrow(
      /node "node" \(ReduceMax\).*got axis 1/,
    );
  });
});

describe('losses', () => {
  test('a loss without weights is a mean of what the targets pick', () => {
    const target = HostTensor.from('int64', [3], [1, 0, 4]);
    expect(
      imported({ op: 'NegativeLogLikelihoodLoss', inputs: { x: [3, 5], target } }),
    ).toHaveLength(4);
  });

  test('a reduction that ONNX does not have is refused', () => {
    const target = HostTensor.from('int64', [3], [1, 0, 4]);
    const attributes = { reduction: 'median' };
    const spec = { op: 'SoftmaxCrossEntropyLoss', inputs: { x: [3, 5], target } };
    expect(() => imported({ ...spec, attributes })).toThrow(/got reduction "median"/);
  });
});
