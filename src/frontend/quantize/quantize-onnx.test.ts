import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../client/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { randomTensor } from '../../testing/random-tensor.ts';
import { compileOnnx, type ExternalDataReader } from '../index.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { tensorFromProto } from '../onnx/protobuf/read-tensor.ts';
import { writeMessage } from '../onnx/protobuf/write-message.ts';
import { observeOnnx } from './model-edits.ts';
import { quantizeOnnx } from './quantize-onnx.ts';
import { bytesOf, inputsOf, SMALL_MODELS } from './testing/quantized-models.ts';

/**
 * Outputs of onnxruntime-node 1.30 for these models, with its optimisations
 * (tools/quantize/write-expected.ts).
 */
const EXPECTED = JSON.parse(
  readFileSync(new URL('testing/onnxruntime-outputs.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly number[]>>;

type Values = Readonly<Record<string, Float32Array>>;

async function run(
  model: Uint8Array,
  inputs: Readonly<Record<string, HostTensor>>,
  {
    device = 'host',
    externalData,
  }: { device?: 'host' | 'wasm'; externalData?: ExternalDataReader } = {},
): Promise<Values> {
  const session = await Session.load(compileOnnx(model, { externalData }).toBytes(), {
    device,
    worker: false,
  });
  const given = Object.entries(inputs).map(
    ([name, { dtype, data, shape }]) => [name, new Tensor(dtype, data, shape)] as const,
  );
  const outputs = Object.entries(await session.run(Object.fromEntries(given)));
  await session.dispose();
  return Object.fromEntries(outputs.map(([name, { data }]) => [name, data as Float32Array]));
}

function relativeError(got: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [error, sum] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    error += ((got[i] ?? Number.NaN) - (expected[i] ?? 0)) ** 2;
    sum += (expected[i] ?? 0) ** 2;
  }
  return Math.sqrt(error / sum);
}

describe.each(Object.entries(SMALL_MODELS))('%s', (name, model) => {
  const bytes = bytesOf(model);
  const quantized = quantizeOnnx(bytes, model.options);

  test('layers, and how far their weights moved', () => {
    expect(quantized.layers.map(({ becomes }) => becomes)).toEqual(model.becomes);
    const most = model.options.bits === 4 ? 0.12 : 0.01;
    for (const { weightError } of quantized.layers) {
      expect(weightError).toBeGreaterThan(most / 100);
      expect(weightError).toBeLessThan(most);
    }
    expect(quantized.kept).toEqual([]);
  });

  test('outputs are those of onnxruntime, and near those of the float model', async () => {
    const inputs = inputsOf(model);
    const { y: float = [] } = await run(bytes, inputs);
    for (const device of ['host', 'wasm'] as const) {
      const { y = [] } = await run(quantized.model, inputs, { device });
      expect(y.length).toBe(float.length);
      expect(relativeError(y, EXPECTED[name] ?? [])).toBeLessThan(2e-6);
      const error = relativeError(y, float);
      expect(error).toBeGreaterThan(1e-4);
      expect(error).toBeLessThan((model.options.bits === 4 ? 0.13 : 0.01) * model.becomes.length);
    }
  });
});

describe('values that convolutions read and give', () => {
  const model = SMALL_MODELS['calibrated convolutions'];
  if (model === undefined) throw new Error('no such model');
  const bytes = bytesOf(model);

  test('are named, and stay float without a range', () => {
    const { activations, model: without } = quantizeOnnx(bytes);
    expect(activations).toEqual(['x', 'r']);
    const { graph } = readMessage('ModelProto', without);
    expect(graph?.node.map(({ opType }) => opType)).not.toContain('QuantizeLinear');
    expect(quantizeOnnx(bytes, { keep: ['first'] }).activations).toEqual([]);
    const alone = quantizeOnnx(bytes, { ...model.options, weightsOnly: true });
    expect(alone.activations).toEqual([]);
    expect(Buffer.from(alone.model).equals(without)).toBe(true);
    // onnxruntime would make QLinearConv of them, which operator set 9 does not have.
    const old = SMALL_MODELS['convolutions of an old operator set'] ?? model;
    expect(quantizeOnnx(bytesOf(old), model.options).activations).toEqual([]);
  });

  test('go through QuantizeLinear, an input for convolutions alone', () => {
    const { graph } = readMessage('ModelProto', quantizeOnnx(bytes, model.options).model);
    expect(graph?.node.map(({ opType, input, output }) => [opType, input[0], output[0]])).toEqual([
      ['QuantizeLinear', 'x', 'x_codes'],
      ['DequantizeLinear', 'x_codes', 'x_dequantized'],
      ['DequantizeLinear', 'w_int8', 'w_dequantized'],
      ['DequantizeLinear', 'first_bias_int32', 'first_bias_dequantized'],
      ['Conv', 'x_dequantized', 'a'],
      ['Relu', 'a', 'r_float'],
      ['QuantizeLinear', 'r_float', 'r_codes'],
      ['DequantizeLinear', 'r_codes', 'r'],
      ['DequantizeLinear', 'v_int8', 'v_dequantized'],
      ['ConvTranspose', 'r', 'y'],
    ]);
    const values = graph?.initializer.map((tensor) => [
      tensor.name,
      tensorFromProto(tensor, '').data[0],
    ]);
    expect(values).toContainEqual(['r_scale', Math.fround(32 / 255)]);
    expect(values).toContainEqual(['r_zero', 0]);
    expect(values).toContainEqual(['x_zero', 127]);
    expect(values?.map(([tensor]) => tensor)).not.toContain('b');
  });

  test.each([
    [2 ** 30, true],
    [2 ** 31 * 1.01, false],
    [-(2 ** 31) * 1.01, false],
  ])('a bias of %d steps is rounded: %s', (steps, isRounded) => {
    const first = (bytesOfModel: Uint8Array, name: string) =>
      readMessage('ModelProto', bytesOfModel)
        .graph?.initializer.filter((tensor) => tensor.name === name)
        .map((tensor) => Number(tensorFromProto(tensor, '').data[0]))[0];
    const written = quantizeOnnx(bytes, model.options).model;
    // The bias over its code is one step.
    const [code = 1] = [first(written, 'first_bias_int32')];
    const step = (first(bytes, 'b') ?? 0) / code;
    const bias = HostTensor.from('float32', [8], [steps * step, ...new Array<number>(7).fill(0)]);
    const initializers = { ...model.spec.initializers, b: bias };
    const { model: rounded } = quantizeOnnx(
      writeOnnxModel({ ...model.spec, initializers }),
      model.options,
    );
    const got = first(rounded, 'first_bias_int32');
    if (isRounded) expect((got ?? 0) / steps).toBeCloseTo(1, 2);
    else expect([got, first(rounded, 'b')]).toEqual([undefined, bias.data[0]]);
  });
});

const W = randomTensor([64, 32], 1);
const PLAIN: OnnxModelSpec = {
  producer: 'somebody',
  opset: 13,
  inputs: [{ name: 'x', shape: ['n', 64] }],
  nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'w'], outputs: ['y'] }],
  initializers: { w: W },
  outputs: ['y'],
};

/** Field 2000 with three bytes, which ONNX's schema does not have. */
const UNKNOWN = Buffer.of(0x82, 0x7d, 0x03, 1, 2, 3);

test('names, metadata, unknown fields and versions stay', () => {
  const metadata = writeMessage('StringStringEntryProto', { key: 'author', value: 'me' });
  const bytes = Buffer.concat([
    writeOnnxModel(PLAIN),
    Buffer.of(0x72, metadata.byteLength),
    metadata,
    UNKNOWN,
  ]);
  const { model } = quantizeOnnx(bytes);
  const [before, after] = [bytes, model].map((each) => readMessage('ModelProto', each));
  expect(after?.producerName).toBe('somebody');
  expect(after?.opsetImport).toEqual([
    ...(before?.opsetImport ?? []),
    { domain: 'com.microsoft', version: 1 },
  ]);
  expect(Buffer.from(model).includes(Buffer.concat([metadata, UNKNOWN]))).toBe(true);
  expect(after?.graph?.input).toEqual(before?.graph?.input);
  expect(after?.graph?.output).toEqual(before?.graph?.output);
  expect(after?.graph?.node[0]).toMatchObject({
    name: 'product',
    opType: 'MatMulNBits',
    input: ['x', 'w_Q8', 'w_scales', 'w_zeros'],
    output: ['y'],
  });
  expect(after?.graph?.initializer.map(({ name }) => name)).toEqual([
    'w_Q8',
    'w_scales',
    'w_zeros',
  ]);
});

test('initializers of an old model need not be inputs any more', async () => {
  const spec = { ...PLAIN, inputs: [...(PLAIN.inputs ?? []), { name: 'w', shape: [64, 32] }] };
  const version3 = Buffer.from(writeOnnxModel(spec));
  version3[1] = 3;
  const { model } = quantizeOnnx(version3);
  const after = readMessage('ModelProto', model);
  expect(after.irVersion).toBe(4);
  expect(after.graph?.input.map(({ name }) => name)).toEqual(['x']);
});

test('weights that several nodes read are rounded once, and stay where a node needs them', () => {
  const shared = quantizeOnnx(
    writeOnnxModel({
      ...PLAIN,
      nodes: [
        { op: 'MatMul', inputs: ['x', 'w'], outputs: ['a'] },
        { op: 'MatMul', inputs: ['x', 'w'], outputs: ['b'] },
        { op: 'Add', inputs: ['a', 'b'], outputs: ['c'] },
        { op: 'Gather', name: 'rows', inputs: ['w', 'i'], outputs: ['d'] },
        { op: 'MatMul', name: 'computed', inputs: ['c', 'd'], outputs: ['y'] },
      ],
      initializers: {
        w: W,
        i: HostTensor.from(
          'int64',
          [32],
          Array.from({ length: 32 }, (_, i) => BigInt(i)),
        ),
      },
    }),
  );
  const { graph } = readMessage('ModelProto', shared.model);
  expect(graph?.initializer.map(({ name }) => name)).toEqual([
    'w',
    'i',
    'w_Q8',
    'w_scales',
    'w_zeros',
  ]);
  expect(graph?.node.map(({ input }) => input[1])).toEqual(['w_Q8', 'w_Q8', 'b', 'i', 'd']);
  expect(shared.layers.map(({ node }) => node)).toEqual(['a', 'b']);
  expect(shared.kept).toEqual([
    { node: 'rows', operator: 'Gather', reason: 'there is no form of it with codes' },
    { node: 'computed', operator: 'MatMul', reason: 'both of its operands are computed' },
  ]);
  expect(shared.others).toEqual({ Add: 1 });
});

test.each([
  [{ w: randomTensor([64, 2], 1) }, 'its codes would take no less than its weights', {}],
  [{ w: HostTensor.zeros('float64', [64, 32]) }, 'its weights are float64', {}],
  [
    {
      w: HostTensor.from(
        'float32',
        [64, 32],
        Array.from(W.data as Float32Array, (value, i) => (i === 7 ? Infinity : value)),
      ),
    },
    'its weights are not all finite',
    {},
  ],
  [{ w: W }, 'it was asked to', { keep: ['product'] }],
])('weights that stay %#', (initializers, reason, options) => {
  const block = { block: reason.includes('codes') ? 1024 : 32 };
  const bytes = writeOnnxModel({ ...PLAIN, initializers });
  const { layers, kept, model } = quantizeOnnx(bytes, { ...block, ...options });
  expect(layers).toEqual([]);
  expect(kept).toEqual([{ node: 'product', operator: 'MatMul', reason }]);
  expect(model).toEqual(bytes);
});

test('float16 has scales of float16', async () => {
  const half = (tensor: HostTensor): HostTensor =>
    HostTensor.from(
      'float16',
      tensor.shape,
      Uint16Array.from(tensor.data as Float32Array, (value) => (value < 0 ? 0xb800 : 0x3a00)),
    );
  const bytes = writeOnnxModel({
    ...PLAIN,
    inputs: [{ name: 'x', dtype: 'float16', shape: [2, 64] }],
    initializers: { w: half(W) },
  });
  const { model, layers } = quantizeOnnx(bytes);
  const [, scales] = readMessage('ModelProto', model).graph?.initializer ?? [];
  expect(scales?.dataType).toBe(10);
  expect(layers[0]?.weightError).toBeLessThan(0.01);
  const x = half(randomTensor([2, 64], 5));
  const [{ y: got = [] }, { y: float = [] }] = [await run(model, { x }), await run(bytes, { x })];
  expect(got.length).toBe(64);
  expect(relativeError(got, float)).toBeLessThan(0.02);
});

test('a model that is quantised already is as it was', () => {
  const { model: once } = quantizeOnnx(writeOnnxModel(PLAIN));
  const again = quantizeOnnx(once, { bits: 4 });
  expect(again.model).toEqual(once);
  expect(again.wasQuantized).toEqual(['MatMulNBits']);
  expect(again.layers).toEqual([]);
});

describe('data in other files', () => {
  const external = writeOnnxModel({
    ...PLAIN,
    nodes: [
      { op: 'MatMul', inputs: ['x', 'far'], outputs: ['a'] },
      { op: 'Add', inputs: ['a', 'b'], outputs: ['y'] },
    ],
    initializers: {},
    externalInitializers: {
      far: { dtype: 'float32', shape: [64, 32], place: { location: 'far.bin' } },
      b: { dtype: 'float32', shape: [32], place: { location: 'far.bin', offset: '8192' } },
    },
  });
  const bias = randomTensor([32], 9);
  const file = Buffer.concat([W.bytes, bias.bytes]);
  const externalData: ExternalDataReader = (path, { byteOffset, byteLength }) => {
    expect(path).toBe('far.bin');
    return file.subarray(byteOffset, byteOffset + byteLength);
  };
  const inputs = { x: randomTensor([2, 64], 4) };

  test('comes into the model', async () => {
    const { model, data } = quantizeOnnx(external, { externalData });
    expect(data).toEqual([]);
    const { y = [] } = await run(model, inputs);
    const { y: float = [] } = await run(external, inputs, { externalData });
    expect(relativeError(y, float)).toBeLessThan(0.02);
  });

  test('goes into a file beside a model that would be too large', async () => {
    const options = { externalData, maxByteLength: 4000, dataFile: 'out.data' };
    const { model, data } = quantizeOnnx(external, options);
    expect(model.byteLength).toBeLessThan(1200);
    const beside = Buffer.concat(data);
    const read: ExternalDataReader = (path, { byteOffset, byteLength }) => {
      expect(path).toBe('out.data');
      expect(byteOffset % 4096).toBe(0);
      return beside.subarray(byteOffset, byteOffset + byteLength);
    };
    const { y } = await run(model, inputs, { externalData: read });
    const { y: whole } = await run(quantizeOnnx(external, { externalData }).model, inputs);
    expect(y).toEqual(whole);
  });

  test('has to be readable', () => {
    expect(() => quantizeOnnx(external)).toThrow('got tensor data in an external file (far.bin)');
  });
});

test('inner values become outputs', async () => {
  const bytes = writeOnnxModel({
    ...PLAIN,
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['a'] },
      { op: 'Relu', inputs: ['a'], outputs: ['y'] },
    ],
  });
  const observed = observeOnnx(bytes, ['a', 'y', 'a']);
  const { a = [], y = [], ...others } = await run(observed, { x: randomTensor([1, 64], 2) });
  expect(Object.keys(others)).toEqual([]);
  expect(Array.from(a, (value) => Math.max(0, value))).toEqual(Array.from(y));
  expect(observeOnnx(bytes, ['y'])).toBe(bytes);
});

test.each([
  [{ bits: 5 as 4 }, 'quantize: got 5 bits, expected 4, 8 or 16.'],
  [{ block: 24 }, 'quantize: got blocks of 24, expected a power of two from 16 to 65536.'],
  [{ block: 8 }, 'quantize: got blocks of 8, expected a power of two from 16 to 65536.'],
])('%o is refused', (options, message) => {
  expect(() => quantizeOnnx(writeOnnxModel(PLAIN), options)).toThrow(message);
});

test('what is no model is refused', () => {
  expect(() => quantizeOnnx(Uint8Array.of(1, 2, 3))).toThrow('ModelProto: got malformed protobuf');
  expect(() => quantizeOnnx(new Uint8Array())).toThrow('ONNX model: got no graph, expected one.');
});
