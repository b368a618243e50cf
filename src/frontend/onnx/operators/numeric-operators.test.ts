import { expect, test } from 'vitest';
import { evaluateModule } from '../../../compiler/evaluation/evaluate-module.ts';
import { numberToFloat16 } from '../../../core/tensor/float16.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import { type OnnxAttribute, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { importOnnx } from '../import-onnx.ts';

interface Node {
  readonly op: string;
  readonly opset?: number;
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly outputs?: number;
  /** How many of the inputs, from the last, are constants of the model. */
  readonly constants?: number;
  /** Sizes of axes that are symbols of the model, by input. */
  readonly symbols?: Readonly<Record<number, readonly (number | string)[]>>;
}

/** float32 elements; whole numbers in order unless given. */
function tensor(shape: Shape, values?: readonly number[]): HostTensor {
  const count = shape.reduce((product, dim) => product * dim, 1);
  return HostTensor.from('float32', shape, values ?? Array.from({ length: count }, (_, i) => i));
}

/** The reference evaluator's result of a model of one node. */
function run(node: Node, inputs: readonly (HostTensor | undefined)[]): HostTensor[] {
  const { op, opset = 17, domain, attributes = {}, outputs = 1, constants = 0 } = node;
  const results = Array.from({ length: outputs }, (_, i) => `y${i}`);
  const given = inputs.flatMap((input, i) => (input === undefined ? [] : [{ input, i }]));
  const params = given.filter(({ i }) => i < inputs.length - constants);
  const fixed = given.filter(({ i }) => i >= inputs.length - constants);
  const model = writeOnnxModel({
    opset,
    initializers: Object.fromEntries(fixed.map(({ input, i }) => [`x${i}`, input])),
    ...(domain === undefined ? {} : { opsets: { [domain]: 1 } }),
    inputs: params.map(({ input, i }) => ({
      name: `x${i}`,
      dtype: input.dtype,
      shape: node.symbols?.[i] ?? input.shape,
    })),
    nodes: [
      {
        op,
        inputs: inputs.map((input, i) => (input === undefined ? '' : `x${i}`)),
        outputs: results,
        attributes,
        ...(domain === undefined ? {} : { domain }),
      },
    ],
    outputs: results,
  });
  const value = evaluateModule(
    importOnnx(model),
    'main',
    params.map(({ input }) => input),
  );
  const values =
    typeof value === 'object' && 'kind' in value && value.kind === 'tuple' ? value.fields : [value];
  return values.map((result) => {
    if (result instanceof HostTensor) return result;
    throw new Error('not a tensor');
  });
}

function numbers(result: HostTensor | undefined): number[] {
  const elements: ArrayLike<number | bigint> = result?.data ?? [];
  return Array.from(elements, (value) => Math.round(Number(value) * 1e4) / 1e4);
}

const microsoft = (op: string, attributes: Node['attributes'] = {}): Node => ({
  op,
  domain: 'com.microsoft',
  attributes,
});

test.each([
  ['ii->i', [tensor([3, 3])], [3], [0, 4, 8]],
  ['ii', [tensor([3, 3])], [], [12]],
  ['iji->j', [tensor([2, 2, 2])], [2], [0 + 5, 2 + 7]],
  ['ba', [tensor([2, 3])], [3, 2], [0, 3, 1, 4, 2, 5]],
  ['i,j->ij', [tensor([2]), tensor([3])], [2, 3], [0, 0, 0, 0, 1, 2]],
  ['ij,jk', [tensor([2, 2]), tensor([2, 2])], [2, 2], [2, 3, 6, 11]],
  ['...ij,...jk->...ik', [tensor([2, 1, 2]), tensor([2, 1])], [2, 1, 1], [1, 3]],
  ['ij,kj,k->i', [tensor([2, 2]), tensor([2, 2]), tensor([2])], [2], [3, 13]],
  ['a...,b...->...ab', [tensor([2, 2]), tensor([1, 2])], [2, 2, 1], [0, 0, 1, 3]],
  ['ij,ij->', [tensor([2, 2]), tensor([1, 2])], [], [4]],
] as const)('Einsum of %s', (equation, inputs, shape, expected) => {
  const [result] = run({ op: 'Einsum', attributes: { equation } }, inputs);
  expect(result?.shape).toEqual(shape);
  expect(numbers(result)).toEqual(expected);
});

test('BatchNormalization of a vector takes its elements as samples of one channel', () => {
  const one = (value: number) => tensor([1], [value]);
  const statistics = [one(2), one(1), one(3), one(4)];
  const attributes = { epsilon: { float: 0 } };
  const inputs = [tensor([4]), ...statistics];
  const [result] = run({ op: 'BatchNormalization', attributes }, inputs);
  expect(result?.shape).toEqual([4]);
  expect(numbers(result)).toEqual([-2, -1, 0, 1]);
  const training = { ...attributes, training_mode: 1, momentum: { float: 0.5 } };
  const all = run({ op: 'BatchNormalization', attributes: training, outputs: 3 }, [
    tensor([4], [1, 1, 3, 3]),
    ...statistics,
  ]);
  expect(all.map(({ shape }) => shape)).toEqual([[4], [1], [1]]);
  expect(all.map(numbers)).toEqual([[-1, -1, 3, 3], [2.5], [2.5]]);
});

test('Einsum of integers multiplies and sums them', () => {
  const ints = (shape: Shape, values: readonly number[]) => HostTensor.from('int32', shape, values);
  const inputs = [ints([2, 2], [1, 2, 3, 4]), ints([2, 2], [5, 6, 7, 8])];
  const [result] = run({ op: 'Einsum', attributes: { equation: 'ij,jk' } }, inputs);
  expect(numbers(result)).toEqual([19, 22, 43, 50]);
  expect(numbers(run({ op: 'MatMul' }, inputs)[0])).toEqual([19, 22, 43, 50]);
  const turned = run({ op: 'Gemm', attributes: { transB: 1 } }, [...inputs, ints([2], [1, 2])]);
  expect(numbers(turned[0])).toEqual([18, 25, 40, 55]);
});

test('FusedMatMul transposes, moves batch axes and scales', () => {
  const attributes = { transA: 1, transBatchA: 1, alpha: { float: 0.5 } };
  // a is (k, batch, m): two products of (1, 2) by (2, 1).
  const inputs = [tensor([2, 2, 1]), tensor([2, 2, 1])];
  const [result] = run(microsoft('FusedMatMul', attributes), inputs);
  expect(result?.shape).toEqual([2, 1, 1]);
  expect(numbers(result)).toEqual([1, 5.5]);
});

test('FusedConv adds and activates', () => {
  const inputs = [
    tensor([1, 1, 2]),
    tensor([1, 1, 1], [-1]),
    tensor([1]),
    tensor([1, 1, 2], [0, 3]),
  ];
  const fused = (activation: string) => microsoft('FusedConv', { activation });
  expect(numbers(run(fused('Relu'), inputs)[0])).toEqual([0, 2]);
  expect(numbers(run(fused('LeakyRelu'), inputs.slice(0, 3))[0])).toEqual([0, -0.01]);
  expect(numbers(run(fused('HardSigmoid'), inputs.slice(0, 3))[0])).toEqual([0.5, 0.3]);
  expect(() => run(fused('Mish'), inputs)).toThrow(/got activation Mish, expected Relu, Tanh/);
});

test('FusedConvTranspose activates', () => {
  const inputs = [tensor([1, 1, 2], [2, -1]), tensor([1, 1, 2], [1, 3])];
  const node = microsoft('FusedConvTranspose', { activation: 'Relu' });
  expect(numbers(run(node, inputs)[0])).toEqual([2, 5, 0]);
});

test('SkipLayerNormalization gives the sum as its fourth output', () => {
  const inputs = [tensor([1, 2]), tensor([1, 2], [1, 2]), tensor([2], [2, 2]), tensor([2])];
  const [result, mean, inverse, sum] = run(
    { ...microsoft('SkipLayerNormalization'), outputs: 4 },
    inputs,
  );
  expect(numbers(result)).toEqual([-2, 3]);
  expect([numbers(mean), numbers(inverse), numbers(sum)]).toEqual([[2], [1], [1, 3]]);
});

test('SkipSimplifiedLayerNormalization divides by the root mean square', () => {
  const inputs = [tensor([1, 2]), tensor([1, 2], [1, 6]), tensor([2], [5, 5])];
  const [result] = run(microsoft('SkipSimplifiedLayerNormalization'), inputs);
  expect(numbers(result)).toEqual([1, 7]);
});

test('EmbedLayerNormalization sums embeddings and counts tokens', () => {
  const ids = (values: readonly number[]) => HostTensor.from('int32', [1, 2], values);
  const inputs = [
    ids([1, 0]),
    ids([0, 1]),
    tensor([2, 2]),
    tensor([3, 2], [0, 1, 0, 2, 9, 9]),
    tensor([2, 2], [0, 0, 0, 10]),
    tensor([2], [1, 1]),
    tensor([2], [0, 0]),
    ids([1, 0]),
  ];
  const node = { ...microsoft('EmbedLayerNormalization'), outputs: 3 };
  const [result, counts, sum] = run(node, inputs);
  expect(numbers(sum)).toEqual([2, 4, 0, 13]);
  expect(numbers(result)).toEqual([-1, 1, -1, 1]);
  expect(numbers(counts)).toEqual([1]);
});

test('GELU with biases', () => {
  const inputs = [tensor([1, 2], [0, 1]), tensor([2], [1, 0])];
  expect(numbers(run(microsoft('BiasGelu'), inputs)[0])).toEqual([0.8413, 0.8413]);
  expect(numbers(run(microsoft('FastGelu'), inputs)[0])).toEqual([0.8412, 0.8412]);
  expect(numbers(run(microsoft('QuickGelu'), [tensor([1], [1])])[0])).toEqual([0.8458]);
  const split = run(microsoft('BiasSplitGelu'), [tensor([1, 2], [2, 1]), tensor([2], [1, 0])]);
  expect(numbers(split[0])).toEqual([2.524]);
});

test('BatchNormalization in training gives running statistics', () => {
  const inputs = [tensor([2, 1], [1, 3]), ...[1, 0, 4, 8].map((value) => tensor([1], [value]))];
  const attributes = { training_mode: 1, momentum: { float: 0.5 }, epsilon: { float: 0 } };
  const results = run({ op: 'BatchNormalization', opset: 15, attributes, outputs: 3 }, inputs);
  expect(results.map(numbers)).toEqual([[-1, 1], [3], [4.5]]);
});

test.each([
  ['SAME_UPPER', [1], [0, 1, 2, 3]],
  ['SAME_LOWER', [0], [0, 1, 2, 3]],
])('ConvTranspose of an output_shape that is cut, %s', (auto_pad, first) => {
  const attributes = { auto_pad, output_shape: [3], strides: [2] };
  const inputs = [tensor([1, 1, 2], [1, 10]), tensor([1, 1, 2], [1, 2])];
  // Whole, the result is 1, 2, 10, 20.
  const [result] = run({ op: 'ConvTranspose', attributes }, inputs);
  expect(numbers(result)).toEqual(first[0] === 1 ? [1, 2, 10] : [2, 10, 20]);
});

test('MaxUnpool goes to the shape that is asked for', () => {
  const indices = HostTensor.from('int64', [1, 1, 2], [1, 2]);
  const inputs = [tensor([1, 1, 2], [7, 8]), indices];
  const node = { op: 'MaxUnpool', attributes: { kernel_shape: [2], strides: [2] } };
  expect(numbers(run(node, inputs)[0])).toEqual([0, 7, 8, 0]);
  const shape = HostTensor.from('int64', [3], [1, 1, 5]);
  const wider = run({ ...node, constants: 1 }, [...inputs, shape]);
  expect(numbers(wider[0])).toEqual([0, 7, 8, 0, 0]);
});

test.each([
  ['SAME_UPPER', 4, [1, 5]],
  ['SAME_UPPER', 5, [1, 5, 4]],
  ['SAME_LOWER', 4, [1, 5]],
  ['SAME_LOWER', 5, [0, 3, 7]],
  ['VALID', 5, [1, 5]],
])('strided pools pad symbolic axes as their size wants: %s of %d', (auto_pad, size, expected) => {
  const attributes = { auto_pad, kernel_shape: [2], strides: [2] };
  const node = { op: 'LpPool', attributes: { ...attributes, p: 1 }, symbols: { 0: [1, 1, 'n'] } };
  expect(numbers(run(node, [tensor([1, 1, size])])[0])).toEqual(expected);
});

test('constants of float16 have its bits', () => {
  const half = (shape: Shape, values: readonly number[]) =>
    HostTensor.from('float16', shape, values.map(numberToFloat16));
  const norms = run({ op: 'LpNormalization' }, [half([1, 2], [3, 4])]);
  expect([...(norms[0]?.data ?? [])]).toEqual([0.6, 0.8].map(numberToFloat16));
  const node = { op: 'LRN', attributes: { size: 1, alpha: { float: 1 }, beta: { float: 0.5 } } };
  const [local] = run(node, [half([1, 1, 1], [2])]);
  expect([...(local?.data ?? [])]).toEqual([numberToFloat16(2 / Math.sqrt(5))]);
});

test('bounds of Clip in float16 are numbers, not bits', () => {
  const halves = (shape: Shape, values: readonly number[]) =>
    HostTensor.from('float16', shape, values.map(numberToFloat16));
  const x = halves([3], [-2, 0.5, 9]);
  const [y] = run({ op: 'Clip', opset: 13, constants: 2 }, [x, halves([], [-1]), halves([], [6])]);
  expect(y).toEqual(halves([3], [-1, 0.5, 6]));
});

test('a bound of Clip that is left out is the largest number before version 11', () => {
  const x = tensor([2], [-Infinity, Infinity]);
  const [y] = run({ op: 'Clip', opset: 6, attributes: { max: { float: 6 } } }, [x]);
  expect(y).toEqual(tensor([2], [-3.4028234663852886e38, 6]));
});

test('mean and deviation of LayerNormalization are float32, whatever the input is', () => {
  const x = HostTensor.from('float64', [1, 2], [1, 3]);
  const scale = HostTensor.from('float64', [2], [1, 1]);
  const [y, mean, inverse] = run(
    { op: 'LayerNormalization', outputs: 3, attributes: { epsilon: { float: 0 } } },
    [x, scale],
  );
  expect(y).toEqual(HostTensor.from('float64', [1, 2], [-1, 1]));
  expect(mean).toEqual(tensor([1, 1], [2]));
  expect(inverse).toEqual(tensor([1, 1], [1]));
});

test.each([0.5, -1.5])(
  'no unsigned number is below the negative bound of Shrink, lambd %d',
  (lambd) => {
    const attributes = { bias: { float: 2 }, lambd: { float: lambd } };
    const x = HostTensor.from('uint32', [4], [0, 1, 3, 4294967295]);
    const [y] = run({ op: 'Shrink', attributes }, [x]);
    const expected = lambd > 0 ? [0, 4294967295, 1, 4294967293] : [2, 3, 1, 4294967293];
    expect(y).toEqual(HostTensor.from('uint32', [4], expected));
  },
);

test('regions of Resize in float16 are numbers, not bits', () => {
  const attributes = {
    mode: 'linear',
    coordinate_transformation_mode: 'tf_crop_and_resize',
  };
  const regions = [0.25, 0.75];
  const sizes = HostTensor.from('int64', [1], [4]);
  const [single, half] = [
    tensor([2], regions),
    HostTensor.from('float16', [2], regions.map(numberToFloat16)),
  ].map((roi) => {
    const node = { op: 'Resize', attributes, constants: 3 };
    return run(node, [tensor([8]), roi, undefined, sizes])[0];
  });
  expect(half).toEqual(single);
});

test('HardSwish in float16 is 0 at -3', () => {
  const x = HostTensor.from('float16', [3], [-3, 3, 1].map(numberToFloat16));
  const [y] = run({ op: 'HardSwish', opset: 14 }, [x]);
  expect(y).toEqual(HostTensor.from('float16', [3], [-0, 3, 4 / 6].map(numberToFloat16)));
});
