import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { HOST } from '../../device/testing/node-devices.ts';
import { importTflite } from './compile-tflite.ts';
import { runTflite } from './testing/describe-lite.ts';
import {
  type TfliteGraphSpec,
  type TfliteModelSpec,
  type TfliteTensorSpec,
  writeTflite,
} from './testing/tflite-writer.ts';

const float = (shape: readonly number[], data?: readonly number[]): TfliteTensorSpec => ({
  dtype: 'float32',
  shape,
  ...(data === undefined ? {} : { data }),
});

const one = (name: string, op: string, others: Partial<TfliteGraphSpec> = {}): TfliteGraphSpec => ({
  tensors: { x: float([2]), k: float([1], [10]), [name]: float([2]) },
  inputs: ['x'],
  outputs: [name],
  operators: [{ op, inputs: ['x', 'k'], outputs: [name] }],
  ...others,
});

async function run(model: TfliteModelSpec, ...inputs: readonly HostTensor[]): Promise<number[][]> {
  const device = await HOST.open();
  const results = await runTflite(device, model, inputs);
  device.destroy();
  return results.map(({ elements }) => Array.from(elements, Number));
}

const floats = (...values: readonly number[]) =>
  HostTensor.from('float32', [values.length], values);

describe('names', () => {
  test('of inputs and outputs are those of the signature, else of the tensors', () => {
    const signatures = [{ key: 'serving', inputs: { image: 'x' }, outputs: { scores: 'y' } }];
    const named = importTflite(writeTflite({ graphs: [one('y', 'ADD')], signatures }));
    const main = named.functions.get('main');
    expect(main?.params.map(({ name }) => name)).toEqual(['image']);
    expect(main?.attributes.resultNames).toEqual(['scores']);
    const plain = importTflite(writeTflite({ graphs: [one('y', 'ADD')] })).functions.get('main');
    expect(plain?.params.map(({ name }) => name)).toEqual(['x']);
    expect(plain?.attributes.resultNames).toEqual(['y']);
  });

  test('of operators are those of their first outputs, in errors too', () => {
    const graph = one('y', 'SVDF', {
      tensors: { x: float([2]), k: float([1], [10]), y: float([2]), z: float([2]) },
      outputs: ['y', 'z'],
      operators: [
        { op: 'SVDF', inputs: ['x'], outputs: ['y'] },
        { op: 'MyOwn', inputs: ['x'], outputs: ['z'] },
      ],
    });
    expect(() => importTflite(writeTflite({ graphs: [graph] }))).toThrow(
      'TensorFlow Lite model: got 2 nodes of unsupported operators (MyOwn, SVDF), expected operators that Weft has:\n' +
        '  node "y" (SVDF)\n  node "z" (MyOwn)',
    );
  });
});

test('sizes that callers choose are symbols, which dims binds', () => {
  const graph = one('y', 'ADD', {
    tensors: {
      x: { dtype: 'float32', shape: [1, 2], signature: [-1, 2] },
      k: float([1], [10]),
      y: float([1, 2]),
    },
  });
  const bytes = writeTflite({ graphs: [graph] });
  const shape = (dims?: Record<string, number>) => {
    const type = importTflite(bytes, dims === undefined ? {} : { dims }).functions.get('main')
      ?.params[0]?.type;
    return type?.kind === 'tensor' ? type.shape : undefined;
  };
  expect(shape()).toEqual(['x.0', 2]);
  expect(shape({ 'x.0': 5 })).toEqual([5, 2]);
});

test('data behind the root, as files beyond 2 GB have it', async () => {
  expect(await run({ graphs: [one('y', 'ADD')], isLarge: true }, floats(1, 2))).toEqual([[11, 12]]);
});

test('weights in float16 stay so', () => {
  const graph = one('y', 'ADD', {
    tensors: {
      x: float([2]),
      stored: { dtype: 'float16', shape: [2], data: [1.5, 2] },
      k: float([2]),
      y: float([2]),
    },
    operators: [
      { op: 'DEQUANTIZE', inputs: ['stored'], outputs: ['k'] },
      { op: 'ADD', inputs: ['x', 'k'], outputs: ['y'] },
    ],
  });
  const body = importTflite(writeTflite({ graphs: [graph] })).functions.get('main')?.body;
  const cast = body?.kind === 'call' ? body.args[1] : undefined;
  expect(cast).toMatchObject({ callee: { name: 'cast' }, args: [{ value: { dtype: 'float16' } }] });
});

test('sparse weights, in blocks of two columns', async () => {
  // [[0, 0, 1, 2], [3, 4, 0, 0]] as rows of blocks.
  const sparsity = {
    order: [0, 1, 2],
    blockMap: [1],
    dimensions: [
      { size: 2, segments: undefined, indices: undefined },
      { size: 0, segments: [0, 1, 2], indices: [1, 0] },
      { size: 2, segments: undefined, indices: undefined },
    ],
  };
  const graph: TfliteGraphSpec = {
    tensors: {
      x: float([1, 4]),
      stored: { ...float([2, 4], [1, 2, 3, 4]), sparsity },
      w: float([2, 4]),
      y: float([1, 2]),
    },
    inputs: ['x'],
    outputs: ['y'],
    operators: [
      { op: 'DENSIFY', inputs: ['stored'], outputs: ['w'] },
      { op: 'FULLY_CONNECTED', inputs: ['x', 'w', ''], outputs: ['y'] },
    ],
  };
  const x = HostTensor.from('float32', [1, 4], [1, 10, 100, 1000]);
  expect(await run({ graphs: [graph] }, x)).toEqual([[2100, 43]]);
});

describe('control flow', () => {
  test('IF', async () => {
    const main: TfliteGraphSpec = {
      tensors: { c: { dtype: 'bool', shape: [] }, x: float([2]), y: float([2]) },
      inputs: ['c', 'x'],
      outputs: ['y'],
      operators: [
        {
          op: 'IF',
          inputs: ['c', 'x'],
          outputs: ['y'],
          options: ['if', { thenGraph: 1, elseGraph: 2 }],
        },
      ],
    };
    const model = { graphs: [main, one('a', 'ADD'), one('b', 'MUL')] };
    const flag = (value: number) => HostTensor.from('bool', [], [value]);
    expect(await run(model, flag(1), floats(1, 2))).toEqual([[11, 12]]);
    expect(await run(model, flag(0), floats(1, 2))).toEqual([[10, 20]]);
  });

  const loop: TfliteGraphSpec = {
    tensors: { x: float([2]), y: float([2]) },
    inputs: ['x'],
    outputs: ['y'],
    operators: [
      { op: 'WHILE', inputs: ['x'], outputs: ['y'], options: ['while', { condition: 1, body: 2 }] },
    ],
  };
  const condition: TfliteGraphSpec = {
    tensors: {
      x: float([2]),
      axes: { dtype: 'int32', shape: [1], data: [0] },
      sum: float([]),
      most: float([], [100]),
      holds: { dtype: 'bool', shape: [] },
    },
    inputs: ['x'],
    outputs: ['holds'],
    operators: [
      { op: 'SUM', inputs: ['x', 'axes'], outputs: ['sum'], options: ['reducer', {}] },
      { op: 'LESS', inputs: ['sum', 'most'], outputs: ['holds'] },
    ],
  };

  test('WHILE', async () => {
    const model = { graphs: [loop, condition, one('b', 'MUL')] };
    expect(await run(model, floats(1, 2))).toEqual([[100, 200]]);
    expect(await run(model, floats(100, 2))).toEqual([[100, 2]]);
  });

  test('a graph that calls itself is refused', () => {
    expect(() => importTflite(writeTflite({ graphs: [loop, condition, loop] }))).toThrow(
      'node "y" (WHILE): got graph 2, which calls itself, expected another graph of the model.',
    );
  });
});
