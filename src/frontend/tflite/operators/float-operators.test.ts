import { expect, test } from 'vitest';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { describeLite, type LiteInput, type LiteRun } from '../testing/describe-lite.ts';

/** An input of the program. */
function given(
  shape: readonly number[],
  values: readonly number[],
  dtype: DType = 'float32',
): LiteInput {
  return { dtype, shape, given: HostTensor.from(dtype, shape, values) };
}

/** A tensor of the file. */
function constant(
  shape: readonly number[],
  data: readonly number[],
  dtype: DType = 'float32',
): LiteInput {
  return { dtype, shape, data };
}

const output = (shape: readonly number[], dtype: DType = 'float32') => ({ dtype, shape });

const range = (count: number, first = 1) => Array.from({ length: count }, (_, i) => i + first);

/** A case: the operator, its inputs and options, the shape and elements of what it gives. */
type Case = readonly [
  run: Omit<LiteRun, 'outputs'>,
  shape: readonly number[],
  elements: readonly number[],
  dtype?: DType,
];

const square = given([1, 3, 3, 1], range(9));
const ones = (shape: readonly number[]) =>
  constant(shape, new Array<number>(shape.reduce((a, b) => a * b, 1)).fill(1));
const window = { padding: 0, strideW: 1, strideH: 1 };
const vector = given([4], [-2, -0.5, 0, 7]);

const CASES: readonly Case[] = [
  // SAME of a window of 2 pads the end alone.
  [
    {
      op: 'CONV_2D',
      inputs: [square, ones([1, 2, 2, 1]), constant([1], [10])],
      options: ['conv2d', window],
    },
    [1, 3, 3, 1],
    [22, 26, 19, 34, 38, 25, 25, 27, 19],
  ],
  [
    {
      op: 'CONV_2D',
      inputs: [square, ones([2, 3, 3, 1]), constant([2], [0, -40])],
      options: ['conv2d', { padding: 1, strideW: 1, strideH: 1, activation: 1 }],
    },
    [1, 1, 1, 2],
    [45, 5],
  ],
  [
    {
      op: 'CONV_2D',
      inputs: [square, ones([1, 2, 2, 1]), constant([1], [0])],
      options: ['conv2d', { padding: 1, strideW: 1, strideH: 1, dilationH: 2, dilationW: 2 }],
    },
    [1, 1, 1, 1],
    [1 + 3 + 7 + 9],
  ],
  // Two groups of one channel each.
  [
    {
      op: 'CONV_2D',
      inputs: [given([1, 1, 1, 2], [3, 5]), constant([2, 1, 1, 1], [2, 10]), undefined],
      options: ['conv2d', window],
    },
    [1, 1, 1, 2],
    [6, 50],
  ],
  [
    {
      op: 'DEPTHWISE_CONV_2D',
      inputs: [
        given([1, 2, 1, 2], [1, 2, 3, 4]),
        constant([1, 1, 1, 4], [1, 2, 10, 20]),
        constant([4], [0, 0, 0, 1]),
      ],
      options: ['depthwiseConv2d', { ...window, multiplier: 2 }],
    },
    [1, 2, 1, 4],
    [1, 2, 20, 41, 3, 6, 40, 81],
  ],
  [
    {
      op: 'TRANSPOSE_CONV',
      inputs: [
        constant([4], [1, 4, 4, 1], 'int32'),
        ones([1, 2, 2, 1]),
        given([1, 2, 2, 1], [1, 2, 3, 4]),
        constant([1], [0.5]),
      ],
      options: ['transposeConv', { padding: 0, strideW: 2, strideH: 2 }],
    },
    [1, 4, 4, 1],
    [1.5, 1.5, 2.5, 2.5, 1.5, 1.5, 2.5, 2.5, 3.5, 3.5, 4.5, 4.5, 3.5, 3.5, 4.5, 4.5],
  ],
  [
    {
      op: 'CONV_3D',
      inputs: [
        given([1, 2, 1, 1, 2], [1, 2, 3, 4]),
        constant([2, 1, 1, 2, 1], [1, 10, 100, 1000]),
        undefined,
      ],
      options: ['conv3d', { padding: 1, strideD: 1, strideH: 1, strideW: 1 }],
    },
    [1, 1, 1, 1, 1],
    [1 + 20 + 300 + 4000],
  ],
  // The mean counts no padding.
  [
    {
      op: 'AVERAGE_POOL_2D',
      inputs: [square],
      options: ['pool2d', { ...window, strideH: 2, strideW: 2, filterH: 2, filterW: 2 }],
    },
    [1, 2, 2, 1],
    [3, 4.5, 7.5, 9],
  ],
  [
    {
      op: 'MAX_POOL_2D',
      inputs: [square],
      options: [
        'pool2d',
        { padding: 1, strideH: 1, strideW: 1, filterH: 2, filterW: 2, activation: 3 },
      ],
    },
    [1, 2, 2, 1],
    [5, 6, 6, 6],
  ],
  [
    {
      op: 'L2_POOL_2D',
      inputs: [given([1, 1, 2, 1], [3, 4])],
      options: ['pool2d', { padding: 1, strideH: 1, strideW: 1, filterH: 1, filterW: 2 }],
    },
    [1, 1, 1, 1],
    [Math.sqrt(12.5)],
  ],
  [
    { op: 'ADD', inputs: [vector, constant([1], [1])], options: ['add', { activation: 1 }] },
    [4],
    [0, 0.5, 1, 8],
  ],
  [{ op: 'SUB', inputs: [vector, vector], options: ['sub', {}] }, [4], [0, 0, 0, 0]],
  [
    { op: 'MUL', inputs: [vector, vector], options: ['mul', { activation: 3 }] },
    [4],
    [4, 0.25, 0, 6],
  ],
  [
    { op: 'DIV', inputs: [vector, constant([], [2])], options: ['div', { activation: 2 }] },
    [4],
    [-1, -0.25, 0, 1],
  ],
  [{ op: 'MAXIMUM', inputs: [vector, constant([], [0])] }, [4], [0, 0, 0, 7]],
  [{ op: 'MINIMUM', inputs: [vector, constant([], [0])] }, [4], [-2, -0.5, 0, 0]],
  [{ op: 'SQUARED_DIFFERENCE', inputs: [vector, constant([], [1])] }, [4], [9, 2.25, 1, 36]],
  [{ op: 'RSQRT', inputs: [given([2], [4, 16])] }, [2], [0.5, 0.25]],
  [
    {
      op: 'FLOOR_DIV',
      inputs: [given([4], [7, -7, 7, -7], 'int32'), constant([4], [2, 2, -2, -2], 'int32')],
    },
    [4],
    [3, -4, -4, 3],
    'int32',
  ],
  [
    {
      op: 'FLOOR_MOD',
      inputs: [given([4], [7, -7, 7, -7], 'int32'), constant([4], [4, 4, -4, -4], 'int32')],
    },
    [4],
    [3, 1, -1, -3],
    'int32',
  ],
  [
    { op: 'ATAN2', inputs: [given([4], [1, 1, -1, 2]), constant([4], [1, -1, -1, 0])] },
    [4],
    [Math.PI / 4, (3 * Math.PI) / 4, (-3 * Math.PI) / 4, Math.PI / 2],
  ],
  [{ op: 'NOT_EQUAL', inputs: [vector, constant([], [0])] }, [4], [1, 1, 0, 1], 'bool'],
  [{ op: 'HARD_SWISH', inputs: [vector] }, [4], [-1 / 3, (-0.5 * 2.5) / 6, 0, 7]],
  [{ op: 'RELU6', inputs: [vector] }, [4], [0, 0, 0, 6]],
  [{ op: 'RELU_N1_TO_1', inputs: [vector] }, [4], [-1, -0.5, 0, 1]],
  [{ op: 'ELU', inputs: [vector] }, [4], [Math.expm1(-2), Math.expm1(-0.5), 0, 7]],
  [
    { op: 'LEAKY_RELU', inputs: [vector], options: ['leakyRelu', { alpha: 0.5 }] },
    [4],
    [-1, -0.25, 0, 7],
  ],
  [
    { op: 'PRELU', inputs: [given([1, 1, 2, 2], [-1, -1, 1, -2]), constant([1, 1, 2], [2, 3])] },
    [1, 1, 2, 2],
    [-2, -3, 1, -6],
  ],
  [
    {
      op: 'SOFTMAX',
      inputs: [given([1, 2], [0, Math.log(3) / 2])],
      options: ['softmax', { beta: 2 }],
    },
    [1, 2],
    [0.25, 0.75],
  ],
  [{ op: 'L2_NORMALIZATION', inputs: [given([1, 2], [3, 4])] }, [1, 2], [0.6, 0.8]],
  [
    {
      op: 'LOCAL_RESPONSE_NORMALIZATION',
      inputs: [given([1, 1, 1, 3], [1, 2, 3])],
      options: ['responseNormalization', { radius: 1, bias: 1, alpha: 2, beta: 1 }],
    },
    [1, 1, 1, 3],
    [1 / 11, 2 / 29, 3 / 27],
  ],
  [
    {
      op: 'FAKE_QUANT',
      inputs: [given([3], [-3, 0.26, 5])],
      options: ['fakeQuant', { min: -1, max: 1, bits: 3 }],
    },
    [3],
    [-8 / 7, 2 / 7, 6 / 7],
  ],
  [{ op: 'RESHAPE', inputs: [vector, constant([2], [2, -1], 'int32')] }, [2, 2], [-2, -0.5, 0, 7]],
  [
    { op: 'RESHAPE', inputs: [vector], options: ['reshape', { shape: [1, 4] }] },
    [1, 4],
    [-2, -0.5, 0, 7],
  ],
  [
    { op: 'SQUEEZE', inputs: [given([1, 2, 1], [1, 2])], options: ['squeeze', { axes: [-1] }] },
    [1, 2],
    [1, 2],
  ],
  [{ op: 'EXPAND_DIMS', inputs: [vector, constant([], [-1], 'int32')] }, [4, 1], [-2, -0.5, 0, 7]],
  [
    { op: 'TRANSPOSE', inputs: [given([2, 3], range(6)), constant([2], [1, 0], 'int32')] },
    [3, 2],
    [1, 4, 2, 5, 3, 6],
  ],
  [
    {
      op: 'CONCATENATION',
      inputs: [given([1, 2], [1, 2]), given([1, 1], [3])],
      options: ['concatenation', { axis: -1 }],
    },
    [1, 3],
    [1, 2, 3],
  ],
  [
    {
      op: 'PACK',
      inputs: [given([2], [1, 2]), given([2], [3, 4])],
      options: ['pack', { count: 2, axis: 1 }],
    },
    [2, 2],
    [1, 3, 2, 4],
  ],
  [
    {
      op: 'SLICE',
      inputs: [
        given([2, 3], range(6)),
        constant([2], [1, 1], 'int32'),
        constant([2], [1, -1], 'int32'),
      ],
    },
    [1, 2],
    [5, 6],
  ],
  [
    {
      op: 'STRIDED_SLICE',
      inputs: [
        given([2, 3], range(6)),
        constant([2], [0, 2], 'int32'),
        constant([2], [9, 0], 'int32'),
        constant([2], [1, -2], 'int32'),
      ],
      options: ['stridedSlice', { end: 2 }],
    },
    [2, 2],
    [3, 1, 6, 4],
  ],
  [
    {
      op: 'STRIDED_SLICE',
      inputs: [
        given([2, 3], range(6)),
        constant([3], [0, 0, -1], 'int32'),
        constant([3], [0, 0, 0], 'int32'),
        constant([3], [1, 1, 1], 'int32'),
      ],
      options: ['stridedSlice', { newAxis: 1, ellipsis: 2, shrink: 4 }],
    },
    [1, 2],
    [3, 6],
  ],
  [
    { op: 'PAD', inputs: [given([1, 2], [1, 2]), constant([2, 2], [1, 0, 0, 1], 'int32')] },
    [2, 3],
    [0, 0, 0, 1, 2, 0],
  ],
  [
    {
      op: 'PADV2',
      inputs: [given([2], [1, 2]), constant([1, 2], [1, 1], 'int32'), constant([1], [9])],
    },
    [4],
    [9, 1, 2, 9],
  ],
  [
    {
      op: 'MIRROR_PAD',
      inputs: [given([3], [1, 2, 3]), constant([1, 2], [2, 1], 'int32')],
      options: ['mirrorPad', { mode: 0 }],
    },
    [6],
    [3, 2, 1, 2, 3, 2],
  ],
  [
    {
      op: 'MIRROR_PAD',
      inputs: [given([3], [1, 2, 3]), constant([1, 2], [2, 1], 'int32')],
      options: ['mirrorPad', { mode: 1 }],
    },
    [6],
    [2, 1, 1, 2, 3, 3],
  ],
  [
    { op: 'TILE', inputs: [given([1, 2], [1, 2]), constant([2], [2, 2], 'int32')] },
    [2, 4],
    [1, 2, 1, 2, 1, 2, 1, 2],
  ],
  [
    { op: 'REVERSE_V2', inputs: [given([2, 2], range(4)), constant([1], [1], 'int32')] },
    [2, 2],
    [2, 1, 4, 3],
  ],
  [
    {
      op: 'DEPTH_TO_SPACE',
      inputs: [given([1, 1, 1, 8], range(8))],
      options: ['depthToSpace', { block: 2 }],
    },
    [1, 2, 2, 2],
    range(8),
  ],
  [
    {
      op: 'SPACE_TO_DEPTH',
      inputs: [given([1, 2, 2, 2], range(8))],
      options: ['spaceToDepth', { block: 2 }],
    },
    [1, 1, 1, 8],
    range(8),
  ],
  [
    {
      op: 'SPACE_TO_BATCH_ND',
      inputs: [
        given([1, 2, 2, 1], range(4)),
        constant([2], [2, 2], 'int32'),
        constant([2, 2], [0, 0, 0, 0], 'int32'),
      ],
    },
    [4, 1, 1, 1],
    range(4),
  ],
  [
    {
      op: 'BATCH_TO_SPACE_ND',
      inputs: [
        given([4, 1, 1, 1], range(4)),
        constant([2], [2, 2], 'int32'),
        constant([2, 2], [0, 0, 0, 1], 'int32'),
      ],
    },
    [1, 2, 1, 1],
    [1, 3],
  ],
  [
    {
      op: 'MEAN',
      inputs: [square, constant([2], [1, 2], 'int32')],
      options: ['reducer', { keepDims: true }],
    },
    [1, 1, 1, 1],
    [5],
  ],
  [
    {
      op: 'SUM',
      inputs: [given([2, 2], range(4)), constant([1], [-1], 'int32')],
      options: ['reducer', {}],
    },
    [2],
    [3, 7],
  ],
  [
    {
      op: 'REDUCE_ANY',
      inputs: [given([2, 2], [0, 0, 0, 1], 'bool'), constant([1], [1], 'int32')],
      options: ['reducer', {}],
    },
    [2],
    [0, 1],
    'bool',
  ],
  [
    {
      op: 'ARG_MAX',
      inputs: [given([2, 2], [1, 3, 5, 2]), constant([1], [1], 'int32')],
      options: ['argMax', { type: 2 }],
    },
    [2],
    [1, 0],
    'int32',
  ],
  [
    {
      op: 'CUMSUM',
      inputs: [given([3], [1, 2, 3]), constant([], [0], 'int32')],
      options: ['cumsum', { exclusive: true, reverse: true }],
    },
    [3],
    [5, 3, 0],
  ],
  [
    {
      op: 'FULLY_CONNECTED',
      inputs: [
        given([1, 1, 2], [1, 2]),
        constant([2, 2], [1, 10, 100, 1000]),
        constant([2], [0, 1]),
      ],
      options: ['fullyConnected', {}],
    },
    [1, 2],
    [21, 2101],
  ],
  [
    {
      op: 'FULLY_CONNECTED',
      inputs: [given([1, 1, 2], [1, 2]), constant([1, 2], [1, 10]), undefined],
      options: ['fullyConnected', { keepDims: true }],
    },
    [1, 1, 1],
    [21],
  ],
  [
    {
      op: 'BATCH_MATMUL',
      inputs: [given([1, 2, 2], range(4)), constant([1, 2, 2], [1, 0, 2, 1])],
      options: ['batchMatMul', { adjointY: true }],
    },
    [1, 2, 2],
    [1, 4, 3, 10],
  ],
  [
    {
      op: 'RESIZE_BILINEAR',
      inputs: [given([1, 1, 2, 1], [0, 4]), constant([2], [1, 4], 'int32')],
      options: ['resizeBilinear', { halfPixel: true }],
    },
    [1, 1, 4, 1],
    [0, 1, 3, 4],
  ],
  [
    {
      op: 'RESIZE_BILINEAR',
      inputs: [given([1, 1, 2, 1], [0, 4]), constant([2], [1, 4], 'int32')],
      options: ['resizeBilinear', {}],
    },
    [1, 1, 4, 1],
    [0, 2, 4, 4],
  ],
  [
    {
      op: 'RESIZE_BILINEAR',
      inputs: [given([1, 1, 2, 1], [0, 3]), constant([2], [1, 4], 'int32')],
      options: ['resizeBilinear', { alignCorners: true }],
    },
    [1, 1, 4, 1],
    [0, 1, 2, 3],
  ],
  [
    {
      op: 'RESIZE_NEAREST_NEIGHBOR',
      inputs: [given([1, 1, 2, 1], [0, 4]), constant([2], [1, 3], 'int32')],
      options: ['resizeNearest', {}],
    },
    [1, 1, 3, 1],
    [0, 0, 4],
  ],
  [
    {
      op: 'RESIZE_NEAREST_NEIGHBOR',
      inputs: [given([1, 1, 2, 1], [0, 4]), constant([2], [1, 3], 'int32')],
      options: ['resizeNearest', { halfPixel: true }],
    },
    [1, 1, 3, 1],
    [0, 4, 4],
  ],
];

const INDEXING: readonly Case[] = [
  [
    {
      op: 'GATHER',
      inputs: [given([2, 2], range(4)), constant([2], [1, 0], 'int32')],
      options: ['gather', { axis: 1 }],
    },
    [2, 2],
    [2, 1, 4, 3],
  ],
  [
    {
      op: 'GATHER',
      inputs: [given([2, 2], range(4)), constant([2, 1], [1, 0], 'int32')],
      options: ['gather', { axis: 1, batchDims: 1 }],
    },
    [2, 1],
    [2, 3],
  ],
  [
    { op: 'GATHER_ND', inputs: [given([2, 2], range(4)), constant([2, 2], [0, 1, 1, 0], 'int32')] },
    [2],
    [2, 3],
  ],
  [
    {
      op: 'SCATTER_ND',
      inputs: [
        constant([3, 1], [1, 3, 1], 'int32'),
        given([3], range(3)),
        constant([1], [4], 'int32'),
      ],
    },
    [4],
    [0, 4, 0, 2],
  ],
  [
    {
      op: 'ONE_HOT',
      inputs: [
        given([3], [1, -1, 2], 'int32'),
        constant([], [3], 'int32'),
        constant([], [5]),
        constant([], [0]),
      ],
      options: ['oneHot', { axis: -1 }],
    },
    [3, 3],
    [0, 5, 0, 0, 0, 0, 0, 0, 5],
  ],
  [
    {
      op: 'SELECT',
      inputs: [given([2], [1, 0], 'bool'), given([2, 2], range(4)), constant([2, 2], [0, 0, 0, 0])],
    },
    [2, 2],
    [1, 2, 0, 0],
  ],
  [
    {
      op: 'SELECT_V2',
      inputs: [given([2], [1, 0], 'bool'), given([2, 2], range(4)), constant([], [0])],
    },
    [2, 2],
    [1, 0, 3, 0],
  ],
  [{ op: 'WHERE', inputs: [given([2, 2], [0, 1, 1, 0], 'bool')] }, [2, 2], [0, 1, 1, 0], 'int64'],
  [
    { op: 'SHAPE', inputs: [given([2, 3], range(6))], options: ['shape', { type: 2 }] },
    [2],
    [2, 3],
    'int32',
  ],
  [{ op: 'RANK', inputs: [given([2, 3], range(6))] }, [], [2], 'int32'],
  [{ op: 'FILL', inputs: [constant([2], [1, 2], 'int32'), given([], [7])] }, [1, 2], [7, 7]],
  [
    {
      op: 'RANGE',
      inputs: [constant([], [1], 'int32'), constant([], [6], 'int32'), constant([], [2], 'int32')],
    },
    [3],
    [1, 3, 5],
    'int32',
  ],
  [{ op: 'ZEROS_LIKE', inputs: [vector] }, [4], [0, 0, 0, 0]],
  [
    {
      op: 'REVERSE_SEQUENCE',
      inputs: [given([1, 3], range(3)), constant([1], [2], 'int32')],
      options: ['reverseSequence', { axis: 1 }],
    },
    [1, 3],
    [2, 1, 3],
  ],
  [
    {
      op: 'DYNAMIC_UPDATE_SLICE',
      inputs: [given([2, 3], range(6)), constant([1, 2], [9, 8]), given([2], [1, 5], 'int32')],
    },
    [2, 3],
    [1, 2, 3, 4, 9, 8],
  ],
];

describeLite('operators of floats', (run) => {
  test.each([...CASES, ...INDEXING].map((one, i) => [one[0].op, i, ...one] as const))(
    '%s (%i)',
    async (_op, _i, operator, shape, elements, dtype = 'float32') => {
      const [result] = await run({ ...operator, outputs: [output(shape, dtype)] });
      expect(result?.shape).toEqual(shape);
      expect(result?.dtype).toBe(dtype);
      const actual = Array.from(result?.elements ?? [], Number);
      expect(actual).toHaveLength(elements.length);
      for (const [i, value] of elements.entries()) expect(actual[i]).toBeCloseTo(value, 5);
    },
  );

  test('operators with several outputs', async () => {
    const parts = await run({
      op: 'SPLIT',
      inputs: [constant([], [1], 'int32'), given([1, 4], range(4))],
      options: ['split', { count: 2 }],
      outputs: [output([1, 2]), output([1, 2])],
    });
    expect(parts.map(({ elements }) => [...elements])).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const sized = await run({
      op: 'SPLIT_V',
      inputs: [given([3], range(3)), constant([2], [1, -1], 'int32'), constant([], [0], 'int32')],
      options: ['splitV', { count: 2 }],
      outputs: [output([1]), output([2])],
    });
    expect(sized.map(({ elements }) => [...elements])).toEqual([[1], [2, 3]]);
    const rows = await run({
      op: 'UNPACK',
      inputs: [given([2, 2], range(4))],
      options: ['unpack', { count: 2, axis: 1 }],
      outputs: [output([2]), output([2])],
    });
    expect(rows.map(({ shape, elements }) => [shape, [...elements]])).toEqual([
      [[2], [1, 3]],
      [[2], [2, 4]],
    ]);
    const [values, places] = await run({
      op: 'TOPK_V2',
      inputs: [given([3], [1, 3, 2]), constant([], [2], 'int32')],
      outputs: [output([2]), output([2], 'int32')],
    });
    expect([...(values?.elements ?? [])]).toEqual([3, 2]);
    expect(places?.dtype).toBe('int32');
    expect([...(places?.elements ?? [])]).toEqual([1, 2]);
  });
});
