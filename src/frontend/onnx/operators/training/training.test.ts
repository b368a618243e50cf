import { expect, test } from 'vitest';
import { Session, Tensor } from '../../../../client/index.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../../testing/onnx-writer.ts';
import { importOnnx } from '../../import-onnx.ts';
import { mersenneUniform } from './dropout.ts';

const TRAINING = 'ai.onnx.preview.training';

async function run(
  spec: Omit<OnnxModelSpec, 'opset' | 'opsets'>,
  inputs: Readonly<Record<string, Tensor>>,
): Promise<readonly number[][]> {
  const bytes = writeOnnxModel({ ...spec, opset: 17, opsets: { [TRAINING]: 1 } });
  await using session = await Session.load(bytes, { device: 'host', worker: false });
  const outputs = await session.run(inputs);
  return Object.values(outputs).map(({ data }) => Array.from(data, Number));
}

const gradientOf = (
  xs: readonly string[],
  y: string,
  {
    outputs,
    inputs = xs,
    zs = [],
  }: { outputs: string[]; inputs?: string[] | readonly string[]; zs?: string[] },
) => ({
  op: 'Gradient',
  domain: TRAINING,
  inputs: [...inputs, ...zs],
  outputs,
  attributes: { xs: { strings: xs }, y, ...(zs.length > 0 && { zs: { strings: zs } }) },
});

const x = Tensor.from([1, 2, 3]);

test('a gradient of a gradient, of what is not of rank 0', async () => {
  const results = await run(
    {
      inputs: [{ name: 'x', shape: [3] }],
      nodes: [
        { op: 'Mul', inputs: ['x', 'x'], outputs: ['square'] },
        { op: 'Mul', inputs: ['square', 'x'], outputs: ['cube'] },
        gradientOf(['x'], 'cube', { outputs: ['first'] }),
        gradientOf(['x'], 'first', { outputs: ['second'] }),
      ],
      outputs: ['cube', 'first', 'second'],
    },
    { x },
  );
  expect(results).toEqual([
    [1, 8, 27],
    [3, 12, 27],
    [6, 12, 18],
  ]);
});

test('through the iterations of a loop, and at other values than those of the model', async () => {
  const body = {
    inputs: [
      { name: 'i', dtype: 'int64', shape: [] },
      { name: 'go', dtype: 'bool', shape: [] },
      { name: 'in', shape: [3] },
    ],
    nodes: [
      { op: 'Mul', inputs: ['in', 'x'], outputs: ['out'] },
      { op: 'Identity', inputs: ['go'], outputs: ['on'] },
    ],
    outputs: ['on', 'out'],
  } as const;
  const results = await run(
    {
      inputs: [
        { name: 'x', shape: [3] },
        { name: 'n', dtype: 'int64', shape: [] },
        { name: 'at', shape: [3] },
      ],
      nodes: [
        {
          op: 'Loop',
          inputs: ['n', '', 'x'],
          outputs: ['power'],
          attributes: { body: { graph: body } },
        },
        gradientOf(['x'], 'power', { outputs: ['slope'] }),
        gradientOf(['x'], 'power', { outputs: ['elsewhere'], inputs: ['at'] }),
      ],
      outputs: ['slope', 'elsewhere'],
    },
    { x, n: new Tensor('int64', BigInt64Array.of(3n), []), at: Tensor.from([0, 1, 2]) },
  );
  expect(results).toEqual([
    [4, 32, 108],
    [0, 4, 32],
  ]);
});

test('with another tensor at a value of its own', async () => {
  const results = await run(
    {
      inputs: [
        { name: 'x', shape: [3] },
        { name: 'z', shape: [3] },
      ],
      nodes: [
        { op: 'Mul', inputs: ['x', 'x'], outputs: ['square'] },
        { op: 'Mul', inputs: ['square', 'w'], outputs: ['y'] },
        gradientOf(['x'], 'y', { outputs: ['slope'], zs: ['w'], inputs: ['x'] }),
      ].map((node) => (node.op === 'Gradient' ? { ...node, inputs: ['x', 'z'] } : node)),
      initializers: { w: HostTensor.from('float32', [3], [1, 1, 1]) },
      outputs: ['slope'],
    },
    { x, z: Tensor.from([1, 0, -1]) },
  );
  expect(results).toEqual([[2, 0, -6]]);
});

test.each([
  [gradientOf(['x'], 'nothing', { outputs: ['slope'] }), 'input "nothing", which nothing defines'],
  [
    gradientOf([], 'x', { outputs: ['slope'], inputs: [] }),
    'got 0 inputs for 0 tensors in xs and zs, expected as many, and one at least in xs',
  ],
  [
    {
      op: 'Momentum',
      domain: TRAINING,
      inputs: ['r', 'r', 'x', 'x', 'x'],
      outputs: ['slope', 'v'],
      attributes: { mode: 'quick' },
    },
    'got mode "quick", expected standard or nesterov',
  ],
  [
    { op: 'Adam', domain: TRAINING, inputs: ['r', 'r', 'x', 'x'], outputs: ['slope'] },
    'got 4 inputs, expected 2, and 4 for each tensor',
  ],
])('what is no valid node is refused: %#', (node, message) => {
  const bytes = writeOnnxModel({
    opset: 17,
    opsets: { [TRAINING]: 1 },
    inputs: [
      { name: 'x', shape: [3] },
      { name: 'r', shape: [] },
    ],
    nodes: [node],
    outputs: ['slope'],
  });
  expect(() => importOnnx(bytes)).toThrow(message);
});

test('a seeded Dropout draws what NumPy draws', () => {
  const first = [...mersenneUniform(0, 3)].map((value) => value.toFixed(8));
  expect(first).toEqual(['0.54881350', '0.71518937', '0.60276338']);
});

test('a Dropout in training without known sizes drops a share, and the mask says which', async () => {
  const [y = [], mask = []] = await run(
    {
      inputs: [{ name: 'x', shape: ['n'] }],
      nodes: [{ op: 'Dropout', inputs: ['x', 'ratio', 'mode'], outputs: ['y', 'mask'] }],
      initializers: {
        ratio: HostTensor.from('float32', [], [0.25]),
        mode: HostTensor.from('bool', [], [1]),
      },
      outputs: ['y', 'mask'],
    },
    { x: new Tensor('float32', new Float32Array(1000).fill(3), [1000]) },
  );
  expect(y.every((value, i) => value === (mask[i] === 1 ? 4 : 0))).toBe(true);
  expect(Math.abs(mask.filter((kept) => kept === 1).length - 750)).toBeLessThan(50);
});
