import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { IMPORTER_DEVICES } from '../../../device/testing/node-devices.ts';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { compileOnnx } from '../compile-onnx.ts';
import type { CompileOnnxOptions } from '../compile-in-turns.ts';

/** A node with an input of indices. */
interface Case {
  readonly title: string;
  readonly op: string;
  readonly domain?: string;
  readonly opset?: number;
  readonly attributes?: OnnxNodeSpec['attributes'];
  readonly outputCount?: number;
  /** All inputs in order; `undefined` is left out, and the indices are right. */
  readonly inputs: readonly (HostTensor | undefined)[];
  /** Which input has the indices. */
  readonly at: number;
  /** The same with an index that is out of bounds. */
  readonly stray: readonly number[];
  readonly message: string;
}

const floats = (...shape: number[]): HostTensor => {
  const count = shape.reduce((a, b) => a * b, 1);
  return HostTensor.from(
    'float32',
    shape,
    Array.from({ length: count }, (_, i) => (i % 7) / 7),
  );
};
const longs = (shape: readonly number[], values: readonly number[]): HostTensor =>
  HostTensor.from('int64', shape, values);
const ints = (shape: readonly number[], values: readonly number[]): HostTensor =>
  HostTensor.from('int32', shape, values);

const CASES: readonly Case[] = [
  {
    title: 'Gather',
    op: 'Gather',
    inputs: [floats(5, 3), longs([2, 2], [0, 4, -5, 1])],
    at: 1,
    stray: [0, 5, -5, 1],
    message: 'index 5 as element (0, 1), expected one from -5 to 4',
  },
  {
    title: 'Gather along another axis',
    op: 'Gather',
    attributes: { axis: 1 },
    inputs: [floats(5, 3), ints([1], [2])],
    at: 1,
    stray: [-4],
    message: 'index -4 as element (0), expected one from -3 to 2',
  },
  {
    title: 'Gather of int64 beyond 32 bits',
    op: 'Gather',
    inputs: [floats(5, 3), longs([1], [2])],
    at: 1,
    stray: [2 ** 32 + 1],
    message: 'index 4294967297 as element (0), expected one from -5 to 4',
  },
  {
    title: 'GatherElements',
    op: 'GatherElements',
    attributes: { axis: 1 },
    inputs: [floats(2, 3), longs([2, 1], [2, -3])],
    at: 1,
    stray: [2, 3],
    message: 'index 3 as element (1, 0), expected one from -3 to 2',
  },
  {
    title: 'GatherND',
    op: 'GatherND',
    inputs: [floats(2, 3, 4), longs([2, 2], [1, 2, -2, -3])],
    at: 1,
    stray: [1, 2, 2, 0],
    message: 'index 2 as element (1, 0), expected one from -2 to 1',
  },
  {
    title: 'GatherND of batches',
    op: 'GatherND',
    attributes: { batch_dims: 1 },
    inputs: [floats(2, 3, 4), longs([2, 1], [2, -3])],
    at: 1,
    stray: [2, 3],
    message: 'index 3 as element (1, 0), expected one from -3 to 2',
  },
  {
    title: 'ScatterElements',
    op: 'ScatterElements',
    inputs: [floats(3, 2), longs([1, 2], [2, -3]), floats(1, 2)],
    at: 1,
    stray: [2, -4],
    message: 'index -4 as element (0, 1), expected one from -3 to 2',
  },
  {
    title: 'ScatterND',
    op: 'ScatterND',
    inputs: [floats(3, 2), longs([1, 1], [2]), floats(1, 2)],
    at: 1,
    stray: [3],
    message: 'index 3 as element (0, 0), expected one from -3 to 2',
  },
  {
    title: 'TensorScatter',
    op: 'TensorScatter',
    opset: 24,
    attributes: { axis: 1 },
    inputs: [floats(2, 4, 2), floats(2, 2, 2), longs([2], [0, 2])],
    at: 2,
    stray: [0, 3],
    message: 'index 3 as element (1), expected one from 0 to 2',
  },
  {
    title: 'ReverseSequence',
    op: 'ReverseSequence',
    attributes: { batch_axis: 1, time_axis: 0 },
    inputs: [floats(4, 2), longs([2], [4, 0])],
    at: 1,
    stray: [4, 5],
    message: 'index 5 as element (1), expected one from 0 to 4',
  },
  {
    title: 'MaxUnpool',
    op: 'MaxUnpool',
    attributes: { kernel_shape: [2, 2], strides: [2, 2] },
    inputs: [floats(1, 1, 1, 2), longs([1, 1, 1, 2], [0, 7])],
    at: 1,
    stray: [0, 8],
    message: 'index 8 as element (0, 0, 0, 1), expected one from 0 to 7',
  },
  {
    title: 'NegativeLogLikelihoodLoss',
    op: 'NegativeLogLikelihoodLoss',
    attributes: { ignore_index: -100 },
    inputs: [floats(3, 4), longs([3], [0, -100, 3])],
    at: 1,
    stray: [0, -100, 4],
    message: 'index 4 as element (2), expected one from 0 to 3',
  },
  {
    title: 'RotaryEmbedding',
    op: 'RotaryEmbedding',
    opset: 23,
    inputs: [floats(1, 2, 3, 4), floats(6, 2), floats(6, 2), longs([1, 3], [0, 1, 5])],
    at: 3,
    stray: [0, 1, 6],
    message: 'index 6 as element (0, 2), expected one from -6 to 5',
  },
  {
    title: 'RotaryEmbedding of com.microsoft',
    op: 'RotaryEmbedding',
    domain: 'com.microsoft',
    inputs: [floats(1, 2, 3, 4), longs([1], [3]), floats(6, 2), floats(6, 2)],
    at: 1,
    stray: [4],
    message: 'index 4 as element (0), expected one from 0 to 3',
  },
  {
    title: 'EmbedLayerNormalization',
    op: 'EmbedLayerNormalization',
    domain: 'com.microsoft',
    outputCount: 2,
    inputs: [
      ints([1, 3], [0, 4, 2]),
      ints([1, 3], [0, 1, 1]),
      floats(5, 4),
      floats(8, 4),
      floats(2, 4),
      floats(4),
      floats(4),
    ],
    at: 1,
    stray: [0, 1, 2],
    message: 'index 2 as element (0, 2), expected one from -2 to 1',
  },
  {
    title: 'GatherBlockQuantized',
    op: 'GatherBlockQuantized',
    domain: 'com.microsoft',
    attributes: { bits: 8, block_size: 16, gather_axis: 0, quantize_axis: 1 },
    inputs: [
      HostTensor.from(
        'uint8',
        [3, 32],
        Array.from({ length: 96 }, (_, i) => i),
      ),
      ints([2], [2, 0]),
      floats(3, 2),
    ],
    at: 1,
    stray: [3, 0],
    message: 'index 3 as element (0), expected one from -3 to 2',
  },
  {
    title: 'GroupQueryAttention',
    op: 'GroupQueryAttention',
    domain: 'com.microsoft',
    outputCount: 3,
    attributes: { num_heads: 2, kv_num_heads: 1 },
    inputs: [
      floats(2, 1, 8),
      floats(2, 1, 4),
      floats(2, 1, 4),
      floats(2, 1, 6, 4),
      floats(2, 1, 6, 4),
      ints([2], [5, 2]),
      ints([1], [6]),
    ],
    at: 5,
    stray: [6, 2],
    message: 'index 6 as element (0), expected one from 0 to 5',
  },
  {
    title: 'GroupQueryAttention whose cache grows',
    op: 'GroupQueryAttention',
    domain: 'com.microsoft',
    outputCount: 3,
    attributes: { num_heads: 2, kv_num_heads: 1 },
    inputs: [
      floats(1, 1, 8),
      floats(1, 1, 4),
      floats(1, 1, 4),
      floats(1, 1, 3, 4),
      floats(1, 1, 3, 4),
      ints([1], [3]),
      ints([1], [4]),
    ],
    at: 5,
    stray: [4],
    message: 'index 4 as element (0), expected one from 0 to 3',
  },
];

/** How the indices reach the node. */
type Path = 'input' | 'constant' | 'computed';

const NAME = 'reader';

/** A model of the node; indices that are computed are the sum of two inputs. */
function modelOf(
  { op, domain, opset = 17, attributes, outputCount = 1, inputs, at }: Case,
  path: Path,
) {
  const given = inputs.flatMap((tensor, i) =>
    tensor === undefined ? [] : [{ tensor, name: `x${i}` }],
  );
  const isConstant = (name: string) => path === 'constant' && name === `x${at}`;
  const indices = inputs[at] ?? longs([0], []);
  const outputs = Array.from({ length: outputCount }, (_, i) => `y${i}`);
  const zeros = HostTensor.zeros(indices.dtype, indices.shape);
  const sum: OnnxNodeSpec = { op: 'Add', inputs: [`x${at}`, 'zeros'], outputs: ['sum'] };
  const taken = given.filter(({ name }) => !isConstant(name));
  if (path === 'computed') taken.push({ tensor: zeros, name: 'zeros' });
  return {
    parameters: taken.map(({ name }) => name),
    tensors: new Map(taken.map(({ name, tensor }) => [name, tensor])),
    write: (constant: HostTensor) =>
      writeOnnxModel({
        opset,
        opsets: { 'com.microsoft': 1 },
        inputs: taken.map(({ name, tensor }) => ({
          name,
          dtype: tensor.dtype,
          shape: tensor.shape,
        })),
        initializers: path === 'constant' ? { [`x${at}`]: constant } : {},
        nodes: [
          ...(path === 'computed' ? [sum] : []),
          {
            op,
            name: NAME,
            ...(domain === undefined ? {} : { domain }),
            inputs: inputs.map((tensor, i) => {
              if (tensor === undefined) return '';
              return path === 'computed' && i === at ? 'sum' : `x${i}`;
            }),
            outputs,
            ...(attributes === undefined ? {} : { attributes }),
          },
        ],
        outputs,
      }),
  };
}

function strayOf({ inputs, at, stray }: Case): HostTensor {
  const indices = inputs[at] ?? longs([0], []);
  return HostTensor.from(indices.dtype, indices.shape, stray);
}

describe.each(IMPORTER_DEVICES)('on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function run(
    model: Uint8Array,
    tensors: readonly (HostTensor | undefined)[],
    options: CompileOnnxOptions = {},
  ): Promise<void> {
    const vm = await VirtualMachine.create(compileOnnx(model, options), {
      devices: [device, createHostDevice()],
    });
    try {
      const result = await vm.invoke(
        'main',
        tensors.flatMap((tensor) => tensor ?? []),
      );
      vm.release(result);
      await device.synchronize();
    } finally {
      vm.dispose();
    }
  }

  describe.each(CASES)('$title', (given) => {
    const right = given.inputs[given.at] ?? longs([0], []);
    const wrong = strayOf(given);
    const domain = given.domain === undefined ? '' : `${given.domain}.`;
    const node = `node "${NAME}" (${domain}${given.op})`;

    test('that come in with a call', async () => {
      const { write, parameters, tensors } = modelOf(given, 'input');
      const model = write(right);
      await run(
        model,
        parameters.map((name) => tensors.get(name)),
      );
      tensors.set(`x${given.at}`, wrong);
      await expect(
        run(
          model,
          parameters.map((name) => tensors.get(name)),
        ),
      ).rejects.toMatchObject({
        name: 'UsageError',
        message: `main, parameter x${given.at}, read by ${node}: got ${given.message}.`,
      });
    });

    test('that are constants', async () => {
      const { write, parameters, tensors } = modelOf(given, 'constant');
      const others = parameters.map((name) => tensors.get(name));
      await run(write(right), others);
      // By the compiler, or by the call that tells how many there are.
      const failure = run(write(wrong), others);
      await expect(failure).rejects.toThrow(node);
      await expect(failure).rejects.toMatchObject({
        name: expect.stringMatching(/^(FormatError|UsageError)$/),
      });
    });

    test('that are computed, where that is asked for', async () => {
      const { write, parameters, tensors } = modelOf(given, 'computed');
      const model = write(right);
      const check = { check: 'indices' } as const;
      await run(
        model,
        parameters.map((name) => tensors.get(name)),
        check,
      );
      tensors.set(`x${given.at}`, wrong);
      const strays = parameters.map((name) => tensors.get(name));
      await run(model, strays);
      await expect(run(model, strays, check)).rejects.toMatchObject({
        name: 'RuntimeError',
        message: expect.stringContaining(`${node}: got ${given.message}.`),
      });
    });
  });

  test('sizes that only a call tells', async () => {
    const model = writeOnnxModel({
      inputs: [
        { name: 'x', shape: ['n', 2] },
        { name: 'i', dtype: 'int64', shape: ['k'] },
      ],
      nodes: [{ op: 'Gather', name: NAME, inputs: ['x', 'i'], outputs: ['y'] }],
      outputs: ['y'],
    });
    await run(model, [floats(3, 2), longs([2], [2, -3])]);
    await run(model, [floats(9, 2), longs([1], [8])]);
    await expect(run(model, [floats(3, 2), longs([2], [2, 3])])).rejects.toThrow(
      'index 3 as element (1), expected one from -3 to 2',
    );
  });

  test('constants for sizes that only a call tells', async () => {
    const model = writeOnnxModel({
      inputs: [{ name: 'x', shape: ['n', 2] }],
      initializers: { i: longs([1], [3]) },
      nodes: [{ op: 'Gather', name: NAME, inputs: ['x', 'i'], outputs: ['y'] }],
      outputs: ['y'],
    });
    await run(model, [floats(4, 2)]);
    await expect(run(model, [floats(3, 2)])).rejects.toThrow(
      `main, a constant, read by node "${NAME}" (Gather): got index 3, expected one from -3 to 2`,
    );
  });

  test('nothing is asked of indices on a path that is not taken', async () => {
    const branch = (nodes: readonly OnnxNodeSpec[]) => ({ graph: { nodes, outputs: ['z'] } });
    const model = writeOnnxModel({
      inputs: [
        { name: 'c', dtype: 'bool', shape: [] },
        { name: 'x', shape: [3, 2] },
        { name: 'i', dtype: 'int64', shape: [1] },
        { name: 'other', shape: [1, 2] },
      ],
      nodes: [
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['y'],
          attributes: {
            then_branch: branch([{ op: 'Gather', name: NAME, inputs: ['x', 'i'], outputs: ['z'] }]),
            else_branch: branch([{ op: 'Identity', inputs: ['other'], outputs: ['z'] }]),
          },
        },
      ],
      outputs: ['y'],
    });
    const bool = (value: number) => HostTensor.from('bool', [], [value]);
    const rest = [floats(3, 2), longs([1], [7]), floats(1, 2)];
    await run(model, [bool(0), ...rest], { check: 'indices' });
    await run(model, [bool(1), ...rest]);
    await expect(run(model, [bool(1), ...rest], { check: 'indices' })).rejects.toThrow(
      'index 7 as element (0), expected one from -3 to 2',
    );
  });
});
