import { expect, test } from 'vitest';
import type { DType } from '../../core/tensor/dtype.ts';
import { WeftError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { seededRandom } from '../../core/random.ts';
import { importOnnx } from './import-onnx.ts';

const scalar = (name: string, dtype: 'int64' | 'bool') => ({ name, dtype, shape: [] });

/** Sub-graphs, functions, tensors of all forms and attributes of all types, in a few hundred bytes. */
const MODELS: readonly OnnxModelSpec[] = [
  {
    inputs: [{ name: 'x', shape: ['n', 1, 4, 4] }],
    initializers: {
      w: HostTensor.from('float32', [1, 1, 2, 2], [1, 2, 3, 4]),
      shape: HostTensor.from('int64', [2], [-1, 9]),
    },
    nodes: [
      { op: 'Conv', inputs: ['x', 'w'], outputs: ['c'], attributes: { auto_pad: 'VALID' } },
      { op: 'Reshape', inputs: ['c', 'shape'], outputs: ['r'] },
      { op: 'Softmax', inputs: ['r'], outputs: ['y'], attributes: { axis: -1 } },
    ],
    outputs: ['y', 'c'],
  },
  {
    inputs: [scalar('m', 'int64'), scalar('c', 'bool'), { name: 'x', shape: [2] }],
    functions: [
      {
        domain: 'my',
        name: 'F',
        inputs: ['v'],
        outputs: ['w'],
        attributes: ['alpha'],
        nodes: [
          {
            op: 'LeakyRelu',
            inputs: ['v'],
            outputs: ['w'],
            attributes: { alpha: { reference: 'alpha', type: 1 } },
          },
        ],
      },
    ],
    nodes: [
      {
        op: 'Loop',
        inputs: ['m', 'c', 'x'],
        outputs: ['y', 'ys'],
        attributes: {
          body: {
            graph: {
              inputs: [scalar('i', 'int64'), scalar('d', 'bool'), { name: 'v', shape: [2] }],
              nodes: [
                {
                  op: 'F',
                  domain: 'my',
                  inputs: ['v'],
                  outputs: ['w'],
                  attributes: { alpha: { float: 0.5 } },
                },
              ],
              outputs: ['d', 'w', 'x'],
            },
          },
        },
      },
    ],
    outputs: ['y', 'ys'],
  },
  {
    sparseInitializers: {
      s: {
        values: HostTensor.from('float32', [1], [5]),
        indices: HostTensor.from('int64', [1], [1]),
        shape: [3],
      },
    },
    externalInitializers: {
      e: { dtype: 'float32', shape: [3], place: { location: 'e.bin', offset: '0', length: '12' } },
    },
    nodes: [{ op: 'Add', inputs: ['s', 'e'], outputs: ['y'] }],
    outputs: ['y'],
  },
];

/** The memory that a damaged model may ask for is bounded by the size of the file. */
const externalData = (_: string, { byteLength }: { readonly byteLength: number }): Uint8Array =>
  new Uint8Array(Math.min(byteLength, 64));

/** Undefined for a model that is still valid, else the error; anything but a WeftError is a bug. */
function failureOf(bytes: Uint8Array): string | undefined {
  try {
    importOnnx(bytes, { externalData });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof WeftError) return thrown.name;
    throw thrown;
  }
}

test.each([0, 1, 2])('model %i is valid, and no beginning of it harms', (index) => {
  const bytes = writeOnnxModel(MODELS[index] ?? { nodes: [], outputs: [] });
  expect(failureOf(bytes)).toBeUndefined();
  const failures = Array.from({ length: bytes.length }, (_, end) => failureOf(bytes.slice(0, end)));
  expect(failures.filter((failure) => failure !== undefined).length).toBeGreaterThan(
    bytes.length / 2,
  );
});

test.each([0, 1, 2])('changed bytes of model %i give errors that say what is wrong', (index) => {
  const bytes = writeOnnxModel(MODELS[index] ?? { nodes: [], outputs: [] });
  const random = seededRandom(index + 1);
  const pick = (below: number): number => Math.floor(random() * below);
  let failed = 0;
  for (let round = 0; round < 1500; round++) {
    const damaged = bytes.slice();
    for (let change = pick(4); change >= 0; change--) {
      const at = pick(damaged.length);
      damaged[at] = random() < 0.5 ? (damaged[at] ?? 0) ^ (1 << pick(8)) : pick(256);
    }
    if (failureOf(damaged) !== undefined) failed++;
  }
  expect(failed).toBeGreaterThan(500);
});

test('graphs nested without end are refused', () => {
  let graph: OnnxModelSpec = { nodes: [], outputs: ['x'] };
  for (let depth = 0; depth < 120; depth++) {
    const attributes = { then_branch: { graph } };
    graph = { nodes: [{ op: 'If', inputs: ['c'], outputs: ['y'], attributes }], outputs: ['y'] };
  }
  expect(() => importOnnx(writeOnnxModel(graph))).toThrow('nested more than 100 deep');
});

function gatheredCodes(dtype: DType, bits: number): OnnxModelSpec {
  return {
    opsets: { 'com.microsoft': 1 },
    inputs: [
      { name: 'x', dtype, shape: [4, 16] },
      { name: 'i', dtype: 'int64', shape: [2] },
      { name: 's', shape: [4, 1] },
    ],
    nodes: [
      {
        op: 'GatherBlockQuantized',
        domain: 'com.microsoft',
        inputs: ['x', 'i', 's'],
        outputs: ['y'],
        attributes: { bits, block_size: 16 },
      },
    ],
    outputs: ['y'],
  };
}

/** Models that fuzzing found, of which each threw an error without a type, or took all memory. */
const FOUND: readonly (readonly [string, OnnxModelSpec, string])[] = [
  [
    'an activation with a fraction over integers',
    {
      opsets: { 'com.microsoft': 1 },
      inputs: [{ name: 'x', dtype: 'int64', shape: [2] }],
      nodes: [{ op: 'QuickGelu', domain: 'com.microsoft', inputs: ['x'], outputs: ['y'] }],
      outputs: ['y'],
    },
    'got int64 elements to compute with 1.702, expected floating-point elements',
  ],
  ['codes of no bits', gatheredCodes('uint8', 0), 'got 0 bits, expected 2, 4 or 8'],
  [
    'codes that are no integers',
    gatheredCodes('float32', 4),
    'got weights of float32, expected integers of 2, 4 or 8 bits',
  ],
  [
    'many scales of a scalar',
    {
      inputs: [
        { name: 'x', shape: [] },
        { name: 's', shape: [3] },
      ],
      nodes: [{ op: 'QuantizeLinear', inputs: ['x', 's'], outputs: ['y'] }],
      outputs: ['y'],
    },
    'got a scale or zero point for each element of a scalar, expected one of each',
  ],
  [
    'a range from no number',
    {
      initializers: {
        start: HostTensor.from('float32', [], [Number.NaN]),
        limit: HostTensor.from('float32', [], [3]),
        delta: HostTensor.from('float32', [], [1]),
      },
      nodes: [{ op: 'Range', inputs: ['start', 'limit', 'delta'], outputs: ['y'] }],
      outputs: ['y'],
    },
    'got a range from NaN to 3 by 1, expected bounds that are numbers',
  ],
  [
    'a picture of less than no rows',
    {
      opset: 13,
      inputs: [{ name: 'x', shape: [1, 1, 4, 4] }],
      initializers: { sizes: HostTensor.from('int64', [4], [1, 1, -1, 4]) },
      nodes: [{ op: 'Resize', inputs: ['x', '', '', 'sizes'], outputs: ['y'] }],
      outputs: ['y'],
    },
    'expected sizes from 0 up',
  ],
  [
    'a window of less than no elements',
    {
      initializers: { size: HostTensor.from('int64', [], [-5]) },
      nodes: [{ op: 'HannWindow', inputs: ['size'], outputs: ['y'] }],
      outputs: ['y'],
    },
    'got sizes (-5,), expected none below 0',
  ],
  [
    'four billion dimensions',
    {
      inputs: [
        { name: 'x', shape: [3] },
        { name: 'shape', dtype: 'int64', shape: [2 ** 32 - 1] },
      ],
      nodes: [{ op: 'Expand', inputs: ['x', 'shape'], outputs: ['y'] }],
      outputs: ['y'],
    },
    'got 4294967295 dimensions, expected 64 at most',
  ],
];

test.each(FOUND)('%s', (_, spec, message) => {
  expect(() => importOnnx(writeOnnxModel(spec))).toThrow(message);
  expect(() => importOnnx(writeOnnxModel(spec))).toThrow(WeftError);
});
