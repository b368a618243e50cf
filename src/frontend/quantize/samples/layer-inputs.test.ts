import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../../client/index.ts';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import { compileOnnx } from '../../index.ts';
import { readModel } from '../../onnx/protobuf/read-model.ts';
import { GraphScope } from '../graph-scope.ts';
import { type LayerInput, layerInput } from './layer-inputs.ts';

interface Case {
  readonly op: string;
  readonly x: readonly number[];
  readonly w: readonly number[];
  readonly attributes?: Readonly<Record<string, number | string | readonly number[]>>;
}

const CASES: Readonly<Record<string, Case>> = {
  'pads, strides and dilations': {
    op: 'Conv',
    x: [2, 3, 7, 9],
    w: [4, 3, 3, 2],
    attributes: { pads: [1, 0, 2, 1], strides: [2, 1], dilations: [1, 3] },
  },
  groups: { op: 'Conv', x: [1, 6, 5, 5], w: [4, 3, 3, 3], attributes: { group: 2 } },
  'one axis, SAME_UPPER': {
    op: 'Conv',
    x: [1, 2, 10],
    w: [3, 2, 4],
    attributes: { auto_pad: 'SAME_UPPER', strides: [3] },
  },
  SAME_LOWER: {
    op: 'Conv',
    x: [1, 1, 6, 6],
    w: [2, 1, 4, 4],
    attributes: { auto_pad: 'SAME_LOWER' },
  },
  VALID: {
    op: 'Conv',
    x: [1, 1, 6, 6],
    w: [2, 1, 4, 4],
    attributes: { auto_pad: 'VALID', pads: [1, 1, 1, 1] },
  },
  product: { op: 'MatMul', x: [2, 3, 8], w: [8, 5] },
  'transposed product': { op: 'Gemm', x: [3, 8], w: [5, 8], attributes: { transB: 1 } },
};

const modelOf = ({ op, x, w, attributes = {} }: Case): OnnxModelSpec => ({
  inputs: [{ name: 'x', shape: [...x] }],
  nodes: [{ op, name: 'layer', inputs: ['x', 'w'], outputs: ['y'], attributes }],
  initializers: { w: randomTensor([...w], 1) },
  outputs: ['y'],
});

async function outputOf(bytes: Uint8Array, x: HostTensor): Promise<Tensor> {
  const session = await Session.load(compileOnnx(bytes).toBytes(), {
    device: 'host',
    worker: false,
  });
  const { y } = await session.run({ x: new Tensor(x.dtype, x.data, x.shape) });
  await session.dispose();
  return y as Tensor;
}

const readLayer = (bytes: Uint8Array): LayerInput | undefined => {
  const { graph } = readModel(bytes);
  const [node] = graph.node;
  return node && layerInput(node, new GraphScope(graph));
};

describe.each(Object.entries(CASES))('%s', (_, each) => {
  test('rows of weights times its vectors are what the node gives', async () => {
    const spec = modelOf(each);
    const bytes = writeOnnxModel(spec);
    const layer = readLayer(bytes) ?? expect.unreachable();
    const x = randomTensor([...each.x], 2);
    const y = await outputOf(bytes, x);
    const w = randomTensor([...each.w], 1).data as Float32Array;
    const isConv = each.op === 'Conv';
    const hasRows = isConv || each.op === 'Gemm';
    const channels = (hasRows ? each.w[0] : each.w[1]) ?? 0;
    const count = layer.count(x.shape);
    const spatial = isConv ? elementCount(y.shape.slice(2)) : 1;
    expect(count * channels).toBe(elementCount(y.shape));
    const vector = new Float64Array(layer.depth);
    const value = { shape: x.shape, data: x.data as Float32Array };
    for (let index = 0; index < count; index++) {
      for (let channel = 0; channel < channels; channel++) {
        const group = Math.floor(channel / (channels / layer.groups));
        layer.read(value, { group, index }, vector);
        const product = vector.reduce(
          (sum, element, k) =>
            sum + element * (w[hasRows ? channel * layer.depth + k : k * channels + channel] ?? 0),
          0,
        );
        const at =
          Math.floor(index / spatial) * channels * spatial + channel * spatial + (index % spatial);
        expect(product).toBeCloseTo((y.data as Float32Array)[at] ?? Number.NaN, 4);
      }
    }
  });

  test('values of other sizes have none', () => {
    const layer = readLayer(writeOnnxModel(modelOf(each))) ?? expect.unreachable();
    expect(layer.count(each.x.map((size) => size + 1))).toBe(0);
  });
});

test('nodes without constant weights, and those that read a constant, have no vectors', () => {
  const spec = modelOf({ op: 'MatMul', x: [3, 3], w: [3, 3] });
  const other = (inputs: readonly string[]): Uint8Array =>
    writeOnnxModel({ ...spec, nodes: [{ op: 'MatMul', inputs: [...inputs], outputs: ['y'] }] });
  expect(readLayer(other(['x', 'x']))).toBeUndefined();
  expect(readLayer(other(['w', 'w']))).toBeUndefined();
  const transposed = { ...spec.nodes[0], op: 'Gemm', attributes: { transA: 1 } };
  expect(readLayer(writeOnnxModel({ ...spec, nodes: [transposed as never] }))).toBeUndefined();
});
