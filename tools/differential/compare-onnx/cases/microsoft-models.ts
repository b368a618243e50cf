import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { type Draw, float, integersBetween, ints, positive, quarters, scalar } from '../draw.ts';
import type { CaseTable, NodeCase } from '../node-case.ts';
import { quantisation } from './microsoft.ts';

const OPSETS = [13, 17, 20, 22];

function node(
  draw: Draw,
  op: string,
  rest: Pick<NodeCase, 'inputs'> & Partial<NodeCase>,
): NodeCase {
  return { op, domain: 'com.microsoft', opset: draw.pick(OPSETS), ...rest };
}

/** Self attention with masks of all forms, a past and values of their own width. */
function attention(draw: Draw): NodeCase {
  const [batch, heads, size, length, width] = [
    draw.int(1, 2),
    draw.int(1, 3),
    draw.int(1, 4),
    draw.int(1, 4),
    draw.int(1, 5),
  ];
  const past = draw.often(0.4) ? draw.int(0, 3) : undefined;
  const total = length + (past ?? 0);
  const valueSize = past === undefined && draw.often(0.4) ? draw.int(1, 4) : size;
  const [hidden, valueHidden] = [heads * size, heads * valueSize];
  const bits = { number: (d: Draw) => (d.often(0.7) ? 1 : 0) };
  const mask = draw.maybe(
    () =>
      draw.pick([
        () => draw.tensor('int32', [batch, total], bits),
        () => draw.tensor('int32', [batch, length, total], bits),
        () => draw.tensor('int32', [batch], integersBetween(1, total)),
        () =>
          ints(
            [
              ...Array.from({ length: batch }, () => draw.int(Math.ceil(total / 2), total)),
              ...Array.from({ length: batch }, () => draw.int(0, Math.floor(total / 2) - 1)),
            ].map((place) => Math.max(place, 0)),
            'int32',
          ),
      ])(),
    0.7,
  );
  return node(draw, 'Attention', {
    inputs: [
      float(draw, [batch, length, width]),
      float(draw, [width, 2 * hidden + valueHidden]),
      float(draw, [2 * hidden + valueHidden]),
      mask,
      past === undefined ? undefined : float(draw, [2, batch, heads, past, size]),
      draw.maybe(
        () => float(draw, [draw.pick([1, batch]), draw.pick([1, heads]), length, total]),
        0.3,
      ),
    ],
    parameters: [1, 2],
    attributes: {
      num_heads: heads,
      unidirectional: draw.maybe(() => draw.int(0, 1)),
      qkv_hidden_sizes: valueSize === size ? undefined : [hidden, hidden, valueHidden],
      scale: draw.maybe(() => ({ float: 0.4 }), 0.3),
      mask_filter_value: draw.maybe(() => ({ float: -50 }), 0.2),
    },
    outputs: past === undefined ? 1 : 2,
    atol: 1e-4,
  });
}

/** Cross attention in all forms of its operands. */
function multiHeadAttention(draw: Draw): NodeCase {
  const [batch, heads, size, length] = [
    draw.int(1, 2),
    draw.int(1, 3),
    draw.int(1, 4),
    draw.int(1, 4),
  ];
  const form = draw.pick(['apart', 'apart', 'packed', 'packedKv', 'heads'] as const);
  const other = form === 'packed' ? length : draw.int(1, 4);
  const hidden = heads * size;
  const past = form === 'apart' && draw.often(0.4) ? draw.int(1, 3) : 0;
  const total = other + past;
  const valueSize = form === 'apart' && past === 0 && draw.often(0.3) ? draw.int(1, 4) : size;
  const operands = {
    apart: () => [
      float(draw, [batch, length, hidden]),
      float(draw, [batch, other, hidden]),
      float(draw, [batch, other, heads * valueSize]),
    ],
    packed: () => [float(draw, [batch, length, heads, 3, size]), undefined, undefined],
    packedKv: () => [
      float(draw, [batch, length, hidden]),
      float(draw, [batch, other, heads, 2, size]),
      undefined,
    ],
    heads: () => [
      float(draw, [batch, length, hidden]),
      float(draw, [batch, heads, other, size]),
      float(draw, [batch, heads, other, size]),
    ],
  }[form]();
  const bits = { number: (d: Draw) => (d.often(0.7) ? 1 : 0) };
  const mask = draw.maybe(
    () =>
      draw.pick([
        () => draw.tensor('int32', [batch, total], bits),
        () => draw.tensor('int32', [batch, length, total], bits),
        () => draw.tensor('int32', [batch], integersBetween(1, total)),
      ])(),
    0.4,
  );
  return node(draw, 'MultiHeadAttention', {
    inputs: [
      ...operands,
      form === 'packedKv'
        ? undefined
        : draw.maybe(() => float(draw, [2 * hidden + heads * valueSize])),
      mask,
      draw.maybe(
        () => float(draw, [draw.pick([1, batch]), draw.pick([1, heads]), length, total]),
        0.3,
      ),
      past === 0 ? undefined : float(draw, [batch, heads, past, size]),
      past === 0 ? undefined : float(draw, [batch, heads, past, size]),
    ],
    parameters: [3],
    attributes: {
      num_heads: heads,
      scale: draw.maybe(() => ({ float: 0.4 }), 0.3),
      unidirectional: past === 0 && length === other ? draw.maybe(() => 1, 0.3) : undefined,
      mask_filter_value: draw.maybe(() => ({ float: -50 }), 0.2),
    },
    outputs: past === 0 ? 1 : 3,
    atol: 1e-4,
  });
}

/** Sequences of different lengths in a cache, turned by angles, packed or not. */
function groupQueryAttention(draw: Draw): NodeCase {
  const [batch, kv, group, size] = [draw.int(1, 2), draw.int(1, 2), draw.int(1, 3), 16];
  const isPrompt = draw.often(0.5);
  const tokens = isPrompt ? draw.int(1, 4) : 1;
  const past = isPrompt ? 0 : draw.int(1, 4);
  const total = past + tokens;
  const heads = kv * group;
  const isRotary = draw.often(0.5);
  const isPacked = draw.often(0.3);
  const lasts = isPrompt
    ? Array.from({ length: batch }, () => total - 1)
    : Array.from({ length: batch }, (_, i) => (i === 0 ? total - 1 : draw.int(0, total - 1)));
  const cache = () => float(draw, [batch, kv, past, size]);
  const extra = draw.maybe(() => float(draw, [1, heads, tokens, total]), 0.2);
  return node(draw, 'GroupQueryAttention', {
    inputs: [
      float(draw, [batch, tokens, (isPacked ? heads + 2 * kv : heads) * size]),
      isPacked ? undefined : float(draw, [batch, tokens, kv * size]),
      isPacked ? undefined : float(draw, [batch, tokens, kv * size]),
      cache(),
      cache(),
      ints(lasts, 'int32'),
      scalar('int32', total),
      isRotary ? float(draw, [16, size / 2]) : undefined,
      isRotary ? float(draw, [16, size / 2]) : undefined,
      undefined,
      extra,
      draw.maybe(() => float(draw, [heads]), 0.2),
    ],
    parameters: [7, 8],
    attributes: {
      num_heads: heads,
      kv_num_heads: kv,
      do_rotary: isRotary ? 1 : undefined,
      rotary_interleaved: isRotary ? draw.maybe(() => draw.int(0, 1)) : undefined,
      scale: draw.maybe(() => ({ float: 0.4 }), 0.3),
      softcap: draw.maybe(() => ({ float: 3 }), 0.2),
      local_window_size: draw.maybe(() => draw.int(1, 4), 0.3),
      smooth_softmax: draw.maybe(() => 1, 0.15),
    },
    outputs: 3,
    atol: 1e-4,
  });
}

function embedLayerNormalization(draw: Draw): NodeCase {
  const [batch, length, hidden] = [draw.int(1, 3), draw.int(1, 5), draw.int(1, 4) * 4];
  const hasSegments = draw.often(0.6);
  return node(draw, 'EmbedLayerNormalization', {
    inputs: [
      draw.tensor('int32', [batch, length], integersBetween(0, 8)),
      hasSegments ? draw.tensor('int32', [batch, length], integersBetween(0, 1)) : undefined,
      float(draw, [9, hidden]),
      float(draw, [7, hidden]),
      hasSegments ? float(draw, [2, hidden]) : undefined,
      float(draw, [hidden]),
      float(draw, [hidden]),
      draw.maybe(() => draw.tensor('int32', [batch, length], integersBetween(0, 1))),
      draw.maybe(() => draw.tensor('int32', [batch, length], integersBetween(0, 6)), 0.4),
    ],
    parameters: [2, 3, 4, 5, 6],
    attributes: {
      epsilon: draw.maybe(() => ({ float: 0.1 })),
      mask_index_type: draw.maybe(() => draw.int(0, 1), 0.2),
    },
    outputs: draw.pick([2, 2, 3]),
    atol: 1e-4,
  });
}

function fusedConv(draw: Draw): NodeCase {
  const group = draw.int(1, 2);
  const kernel = [draw.int(1, 3), draw.int(1, 3)];
  const image = [draw.int(3, 6), draw.int(3, 6)];
  const [n, outer] = [draw.int(1, 2), group * draw.int(1, 3)];
  const [activation, params] = draw.pick([
    ['Relu', undefined],
    ['Tanh', undefined],
    ['Sigmoid', undefined],
    ['LeakyRelu', [0.3]],
    ['Clip', [-0.5, 1.5]],
    ['HardSigmoid', [0.3, 0.4]],
  ] as const);
  const result = image.map((size, i) => size - (kernel[i] ?? 1) + 1);
  return node(draw, 'FusedConv', {
    inputs: [
      float(draw, [n, 2 * group, ...image]),
      float(draw, [outer, 2, ...kernel]),
      draw.maybe(() => float(draw, [outer])),
      draw.maybe(() => float(draw, [n, outer, ...result]), 0.4),
    ],
    parameters: [1, 2],
    attributes: {
      group,
      activation,
      activation_params: params === undefined ? undefined : { floats: params },
    },
    atol: 1e-3,
  });
}

function qLinearConcat(draw: Draw): NodeCase {
  const dtype = draw.pick(['uint8', 'int8'] as const);
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  const axis = draw.int(0, shape.length - 1);
  const parts = Array.from({ length: draw.int(1, 3) }, () => [
    draw.tensor(
      dtype,
      shape.map((dim, i) => (i === axis ? draw.int(1, 3) : dim)),
    ),
    ...quantisation(draw, dtype),
  ]).flat();
  const inputs = [...quantisation(draw, dtype), ...parts];
  return node(draw, 'QLinearConcat', {
    inputs,
    parameters: inputs.flatMap((_, i) => (i < 2 || i % 3 !== 2 ? [i] : [])),
    attributes: { axis: draw.sign(axis, shape.length) },
    step: 1,
  });
}

function qLinearSoftmax(draw: Draw): NodeCase {
  const dtype = draw.pick(['uint8', 'int8'] as const);
  const shape = draw.shape({ from: 1, to: 4, zero: 0 });
  return node(draw, 'QLinearSoftmax', {
    inputs: [
      draw.tensor(dtype, shape),
      ...quantisation(draw, dtype),
      scalar('float32', 1 / 256),
      scalar(dtype, dtype === 'uint8' ? 0 : -128),
    ],
    parameters: [1, 2, 3, 4],
    isFixed: true,
    attributes: {
      axis: draw.axis(shape.length),
      opset: draw.pick([11, 13]),
    },
    step: 1,
  });
}

function gatherBlockQuantized(draw: Draw): NodeCase {
  const [rows, blocks, size] = [draw.int(1, 5), draw.int(1, 3), 16];
  const dtype = draw.pick(['uint4', 'int4', 'uint8'] as const);
  const bits = dtype === 'uint8' ? draw.pick([4, 8]) : 4;
  const width = blocks * size;
  const codes =
    dtype === 'int4' ? integersBetween(-8, 7) : integersBetween(0, dtype === 'uint8' ? 255 : 15);
  const stored = dtype === 'uint8' ? (width * bits) / 8 : width;
  const zeros = dtype === 'uint8' ? Math.ceil((blocks * bits) / 8) : blocks;
  return node(draw, 'GatherBlockQuantized', {
    opset: 21,
    inputs: [
      draw.tensor(dtype, [rows, stored], codes),
      draw.tensor(
        draw.pick(['int32', 'int64'] as const),
        draw.shape({ to: 3 }),
        integersBetween(-rows, rows - 1),
      ),
      draw.tensor('float32', [rows, blocks], positive),
      draw.maybe(() => draw.tensor(dtype, [rows, zeros], codes)),
    ],
    parameters: [0, 2, 3],
    isFixed: true,
    attributes: {
      block_size: size,
      gather_axis: draw.maybe(() => 0),
      quantize_axis: draw.maybe(() => 1),
      bits: dtype === 'uint8' ? bits : draw.maybe(() => 4),
    },
    atol: 1e-4,
  });
}

/** Widths that are no multiple of a block, floats as zero points, biases. */
function matMulNBits(draw: Draw): NodeCase {
  const bits = draw.pick([4, 4, 8, 2]);
  const block = draw.pick([16, 32, 64, 128, 256]);
  const [m, n] = [draw.int(1, 5), draw.int(1, 9)];
  const k = draw.often(0.5) ? block * draw.int(1, 2) : draw.int(1, 2 * block);
  const blocks = Math.ceil(k / block);
  const isFlat = draw.often(0.5);
  const zeros = draw.maybe(() =>
    draw.often(0.7)
      ? draw.tensor(
          'uint8',
          isFlat ? [n * Math.ceil((blocks * bits) / 8)] : [n, Math.ceil((blocks * bits) / 8)],
        )
      : draw.tensor(
          'float32',
          isFlat ? [n * blocks] : [n, blocks],
          integersBetween(0, 2 ** bits - 1),
        ),
  );
  return node(draw, 'MatMulNBits', {
    inputs: [
      float(draw, [...draw.shape({ to: 2, zero: 0 }), m, k]),
      draw.tensor('uint8', [n, blocks, (block * bits) / 8]),
      draw.tensor('float32', isFlat ? [n * blocks] : [n, blocks], positive),
      zeros,
      undefined,
      draw.maybe(() => float(draw, [n]), 0.3),
    ],
    parameters: [1, 2, 3, 5],
    isFixed: true,
    attributes: { K: k, N: n, bits, block_size: block },
    rtol: 1e-2,
    atol: 2e-2,
  });
}

function rotaryEmbedding(draw: Draw): NodeCase {
  const [batch, heads, length] = [draw.int(1, 2), draw.int(1, 3), draw.int(1, 4)];
  const half = draw.int(1, 4);
  const isPartial = draw.often(0.3);
  const size = isPartial ? 2 * half + 2 * draw.int(0, 2) : 2 * half;
  const isFlat = draw.often(0.5);
  return node(draw, 'RotaryEmbedding', {
    inputs: [
      float(draw, isFlat ? [batch, length, heads * size] : [batch, heads, length, size]),
      draw.often(0.5)
        ? draw.tensor('int64', [1], integersBetween(0, 3))
        : draw.tensor('int64', [batch, length], integersBetween(0, 7)),
      float(draw, [8, half]),
      float(draw, [8, half]),
    ],
    parameters: [2, 3],
    attributes: {
      interleaved: draw.maybe(() => draw.int(0, 1)),
      num_heads: isPartial || (isFlat && draw.often(0.5)) ? heads : undefined,
      rotary_embedding_dim: isPartial ? 2 * half : undefined,
    },
    atol: 1e-4,
  });
}

function fusedMatMul(draw: Draw): NodeCase {
  const [m, k, n] = [draw.dim(), draw.dim(), draw.dim()];
  const batch = [draw.int(1, 3), ...draw.shape({ to: 1, zero: 0 })];
  const side = (rows: number, columns: number) => {
    const transposed = draw.int(0, 1);
    const moved = draw.int(0, 1);
    const [r, c] = transposed === 1 ? [columns, rows] : [rows, columns];
    const shape = moved === 1 ? [...batch.slice(1), r, ...batch.slice(0, 1), c] : [...batch, r, c];
    return { transposed, moved, shape };
  };
  const [a, b] = [side(m, k), side(k, n)];
  // The batch axes go behind the rows, in their order.
  const turned = ({ moved, shape, transposed }: typeof a, rows: number, columns: number) => {
    const [r, c] = transposed === 1 ? [columns, rows] : [rows, columns];
    return moved === 1 ? [r, ...batch, c] : shape;
  };
  return node(draw, 'FusedMatMul', {
    inputs: [float(draw, turned(a, m, k)), float(draw, turned(b, k, n))],
    parameters: [1],
    attributes: {
      transA: a.transposed,
      transB: b.transposed,
      transBatchA: a.moved,
      transBatchB: b.moved,
      alpha: draw.maybe(() => ({ float: 0.3 })),
    },
    atol: 1e-4,
  });
}

function trilu(draw: Draw): NodeCase {
  return node(draw, 'Trilu', {
    inputs: [
      draw.tensor('float32', draw.shape({ from: 2, to: 4 })),
      scalar('int64', draw.int(-3, 3)),
    ],
    parameters: [1],
    attributes: { upper: draw.maybe(() => draw.int(0, 1)) },
  });
}

function skipWithSum(draw: Draw): NodeCase {
  const shape = draw.pick([
    [2, 3, 4],
    [3, 4],
  ]);
  const skip = draw.pick(
    shape.length === 3 ? [shape, shape.slice(1), [1, ...shape.slice(1)]] : [shape],
  );
  const last = shape.slice(-1);
  return node(draw, 'SkipLayerNormalization', {
    inputs: [
      float(draw, shape),
      float(draw, skip),
      float(draw, last),
      draw.maybe(() => float(draw, last)),
      draw.maybe(() => float(draw, last)),
    ],
    parameters: [2, 3, 4],
    attributes: { epsilon: { float: 0.01 } },
    outputs: draw.pick([[true], [true, false, false, true]]),
    atol: 1e-4,
  });
}

function biasAdd(draw: Draw): NodeCase {
  const shape = [draw.int(1, 2), draw.int(1, 4), 320];
  return node(draw, 'BiasAdd', {
    inputs: [float(draw, shape), float(draw, [320]), float(draw, shape)],
    parameters: [1],
  });
}

function biasSplitGelu(draw: Draw): NodeCase {
  return node(draw, 'BiasSplitGelu', {
    inputs: [float(draw, [draw.int(1, 2), draw.int(1, 3), 2560]), float(draw, [2560])],
    parameters: [1],
    atol: 1e-4,
  });
}

function bytesToFloats(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 3 });
  const dtype = draw.pick(['uint8', 'int8', 'uint16', 'int16'] as const);
  return node(draw, 'DequantizeLinear', {
    inputs: [
      draw.tensor(dtype, shape),
      draw.tensor('float32', [], positive),
      draw.tensor(dtype, [], integersBetween(0, 60)),
    ],
    parameters: [1, 2],
  });
}

function floatsToBytes(draw: Draw): NodeCase {
  const dtype = draw.pick(['uint8', 'int8', 'uint16', 'int16'] as const);
  return node(draw, 'QuantizeLinear', {
    inputs: [
      draw.tensor('float32', draw.shape({ from: 1, to: 3 }), { number: (d) => d.real(-40, 40) }),
      draw.tensor('float32', [], { number: (d) => d.real(0.05, 0.4) }),
      draw.tensor(dtype, [], integersBetween(0, 60)),
    ],
    parameters: [1, 2],
    step: 1,
  });
}

function pad(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 1, to: 3, zero: 0 });
  const pads = [...shape, ...shape].map(() => draw.int(0, 2));
  return node(draw, 'Pad', {
    inputs: [draw.tensor('float32', shape), ints(pads), draw.maybe(() => scalar('float32', 1.5))],
    parameters: [1, 2],
  });
}

function gatherNd(draw: Draw): NodeCase {
  return node(draw, 'GatherND', {
    inputs: [
      draw.tensor('float32', [3, 4, 2], quarters),
      HostTensor.from('int64', [2, 2], [draw.int(0, 2), draw.int(0, 3), draw.int(-3, 2), 1]),
    ],
    parameters: [1],
  });
}

function simplified(draw: Draw): NodeCase {
  const shape = draw.shape({ from: 2, to: 4, zero: 0 });
  return node(draw, 'SimplifiedLayerNormalization', {
    domain: '',
    opset: 17,
    inputs: [float(draw, shape), float(draw, shape.slice(-1))],
    parameters: [1],
    attributes: { epsilon: { float: 0.01 }, axis: -1, stash_type: 1 },
    atol: 1e-4,
  });
}

/** Operators of com.microsoft in the forms that exported transformers have. */
export const MICROSOFT_MODEL_CASES: CaseTable = {
  'microsoft.Attention.forms': attention,
  'microsoft.BiasAdd': biasAdd,
  'microsoft.BiasSplitGelu': biasSplitGelu,
  'microsoft.DequantizeLinear': bytesToFloats,
  'microsoft.EmbedLayerNormalization': embedLayerNormalization,
  'microsoft.FusedConv': fusedConv,
  'microsoft.FusedMatMul.batch': fusedMatMul,
  'microsoft.GatherBlockQuantized': gatherBlockQuantized,
  'microsoft.GatherND': gatherNd,
  'microsoft.GroupQueryAttention.forms': groupQueryAttention,
  'microsoft.MatMulNBits.forms': matMulNBits,
  'microsoft.MultiHeadAttention.forms': multiHeadAttention,
  'microsoft.Pad': pad,
  'microsoft.QLinearConcat': qLinearConcat,
  'microsoft.QLinearSoftmax': qLinearSoftmax,
  'microsoft.QuantizeLinear': floatsToBytes,
  'microsoft.RotaryEmbedding.forms': rotaryEmbedding,
  'microsoft.SimplifiedLayerNormalization': simplified,
  'microsoft.SkipLayerNormalization.forms': skipWithSum,
  'microsoft.Trilu': trilu,
};
