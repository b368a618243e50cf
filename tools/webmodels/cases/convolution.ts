import { elementCount, type Shape } from '../../../src/core/tensor/shape.ts';
import {
  held,
  i32,
  integersBetween,
  isCode,
  type Kind,
  like,
  type LiteCases,
  type LiteCaseTable,
  type LiteDraw,
  type LiteOperand,
  reals,
} from './lite-case.ts';

const SAME = 0;
const VALID = 1;

/** A window over axes of space that it fits. */
interface Window {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly padding: number;
  readonly input: readonly number[];
  readonly output: readonly number[];
}

interface WindowOptions {
  readonly dilates?: boolean;
  /** The sizes of the input; by default those that fit the kernel. */
  readonly sizes?: readonly number[] | undefined;
}

function windowOf(
  draw: LiteDraw,
  rank: number,
  { dilates = true, sizes }: WindowOptions = {},
): Window {
  const most = rank === 3 ? 2 : 4;
  const kernel = Array.from({ length: rank }, (_, i) =>
    draw.int(1, Math.min(most, sizes?.[i] ?? most)),
  );
  const strides = Array.from({ length: rank }, () => draw.pick([1, 1, 2, 3]));
  // Few kernels of LiteRT have strides and gaps together.
  const isDilated =
    dilates && sizes === undefined && strides.every((stride) => stride === 1) && draw.often(0.6);
  const dilations = kernel.map(() => (isDilated ? draw.int(1, 2) : 1));
  const extents = kernel.map((size, i) => (size - 1) * (dilations[i] ?? 1) + 1);
  const input = sizes ?? extents.map((extent) => extent + draw.int(0, 6));
  const padding = draw.pick([SAME, VALID]);
  const output = input.map((size, i) => {
    const places = padding === SAME ? size : size - (extents[i] ?? 1) + 1;
    return Math.ceil(places / (strides[i] ?? 1));
  });
  return { kernel, strides, dilations, padding, input, output };
}

/** The fields that options of windows over height and width have. */
const fieldsOf = ({ padding, strides: [strideH = 1, strideW = 1] }: Window) => ({
  padding,
  strideH,
  strideW,
});

const gapsOf = ({ dilations: [dilationH = 1, dilationW = 1] }: Window) => ({
  dilationH,
  dilationW,
});

interface Weights {
  readonly shape: Shape;
  /** The axis of output channels. */
  readonly axis: number;
  /** False where all channels have one scale. */
  readonly isPerChannel?: boolean;
  /** True where kernels want a bias. */
  readonly hasBias?: boolean;
}

/** Weights that the model holds, and a bias in most cases. */
function layer(
  draw: LiteDraw,
  kind: Kind,
  x: LiteOperand,
  { shape, axis, isPerChannel = true, hasBias = draw.often(0.8) }: Weights,
): [weights: LiteOperand, bias: LiteOperand | undefined] {
  const channels = shape[axis] ?? 1;
  const weights = weightsOf(draw, kind, { shape, axis, isPerChannel });
  const bias = hasBias ? biasOf(draw, x, weights, channels) : undefined;
  return [weights, bias];
}

function weightsOf(
  draw: LiteDraw,
  kind: Kind,
  { shape, axis, isPerChannel }: Weights,
): LiteOperand {
  if (kind === 'uint8') return held(draw.operand('uint8', shape));
  if (kind === 'half') {
    return {
      dtype: 'float16',
      shape,
      data: draw.tensor('float16', shape, reals),
      isConstant: true,
      isFree: false,
    };
  }
  if (!isCode(kind) && kind !== 'hybrid')
    return held(draw.operand('float32', shape, { elements: reals }));
  const count = isPerChannel === true ? (shape[axis] ?? 1) : 1;
  const scale = Array.from({ length: count }, () => draw.real(0.005, 0.02));
  // Codes of weights are symmetric.
  const data = draw.tensor('int8', shape, integersBetween(-127, 127));
  const quantization = { scale, zero: scale.map(() => 0), axis: count > 1 ? axis : 0 };
  return { dtype: 'int8', shape, data, quantization, isConstant: true, isFree: false };
}

/** A bias in the codes of the sum, whose scale is the product of those of the operands. */
function biasOf(
  draw: LiteDraw,
  x: LiteOperand,
  { quantization }: LiteOperand,
  channels: number,
): LiteOperand {
  if (x.quantization === undefined)
    return held(draw.operand('float32', [channels], { elements: reals }));
  const [factor = 1] = x.quantization.scale;
  const scale = (quantization?.scale ?? [1]).map((each) => Math.fround(each * factor));
  const dtype = x.dtype === 'int16' ? 'int64' : 'int32';
  const most = Math.round(3 / Math.max(...scale));
  const data = draw.tensor(dtype, [channels], integersBetween(-most, most));
  return {
    dtype,
    shape: [channels],
    data,
    quantization: { scale, zero: scale.map(() => 0), axis: 0 },
    isConstant: true,
    isFree: false,
  };
}

const FORMS: readonly Kind[] = ['float32', 'half', 'hybrid', 'int8', 'uint8', 'int16'];

/** Hybrid kernels round their input to 8 bits of each row's range. */
const tolerance = (kind: Kind, terms: number) =>
  kind === 'hybrid' ? { atol: 0.02 * terms } : { atol: 1e-5 * terms };

const conv2d: LiteCases = {
  kinds: FORMS,
  draw(draw, kind) {
    const given = draw.image();
    const window = windowOf(draw, 2, { sizes: given?.slice(1, 3) });
    const groups = kind === 'float32' && given === undefined ? draw.pick([1, 1, 1, 2]) : 1;
    const inner = given?.[3] ?? draw.int(1, 9);
    const outer = groups * draw.int(1, 9);
    const batch = given?.[0] ?? draw.int(1, 2);
    const x = draw.operand(kind, [batch, ...window.input, inner * groups], { elements: reals });
    const shape = [outer, ...window.kernel, inner];
    const [weights, bias] = layer(draw, kind, x, { shape, axis: 0, hasBias: true });
    const terms = elementCount(shape) / outer;
    const activation = draw.activation();
    return {
      options: ['conv2d', { ...fieldsOf(window), ...gapsOf(window), activation }],
      inputs: [x, weights, bias],
      outputs: [draw.result(kind, [batch, ...window.output, outer], terms)],
      ...tolerance(kind, terms),
    };
  },
};

const depthwise: LiteCases = {
  kinds: FORMS,
  draw(draw, kind) {
    const given = draw.image();
    const window = windowOf(draw, 2, { sizes: given?.slice(1, 3) });
    const channels = given?.[3] ?? draw.int(1, 12);
    const multiplier = draw.pick([1, 1, 1, 2, 3]);
    const batch = given?.[0] ?? draw.int(1, 2);
    const x = draw.operand(kind, [batch, ...window.input, channels], { elements: reals });
    const shape = [1, ...window.kernel, channels * multiplier];
    const [weights, bias] = layer(draw, kind, x, { shape, axis: 3 });
    const terms = (window.kernel[0] ?? 1) * (window.kernel[1] ?? 1);
    const activation = draw.activation();
    return {
      options: [
        'depthwiseConv2d',
        { ...fieldsOf(window), ...gapsOf(window), multiplier, activation },
      ],
      inputs: [x, weights, bias],
      outputs: [draw.result(kind, [batch, ...window.output, channels * multiplier], terms)],
      ...tolerance(kind, terms),
    };
  },
};

const transposeConv: LiteCases = {
  kinds: ['float32', 'half', 'int8', 'uint8', 'int16'],
  draw(draw, kind) {
    // Of the convolution that it reverses: its result is this one's input.
    const window = windowOf(draw, 2, { dilates: false });
    const [inner, outer, batch] = [draw.int(1, 6), draw.int(1, 6), draw.int(1, 2)];
    const x = draw.operand(kind, [batch, ...window.output, inner], { elements: reals });
    const shape = [outer, ...window.kernel, inner];
    const [weights, bias] = layer(draw, kind, x, { shape, axis: 0 });
    const result = [batch, ...window.input, outer];
    const terms = elementCount(shape) / outer;
    return {
      options: ['transposeConv', fieldsOf(window)],
      inputs: [i32(result), weights, x, ...(bias === undefined ? [] : [bias])],
      outputs: [draw.result(kind, result, terms)],
      ...tolerance(kind, terms),
    };
  },
};

const conv3d: LiteCases = {
  kinds: ['float32'],
  draw(draw, kind) {
    const window = windowOf(draw, 3);
    const [inner, outer, batch] = [draw.int(1, 4), draw.int(1, 4), draw.int(1, 2)];
    const shape = [...window.kernel, inner, outer];
    const x = draw.operand(kind, [batch, ...window.input, inner], { elements: reals });
    const [weights, bias] = layer(draw, kind, x, { shape, axis: 4 });
    const [strideD = 1, strideH = 1, strideW = 1] = window.strides;
    const [dilationD = 1, dilationH = 1, dilationW = 1] = window.dilations;
    const fields = {
      padding: window.padding,
      strideD,
      strideH,
      strideW,
      dilationD,
      dilationH,
      dilationW,
    };
    return {
      options: ['conv3d', { ...fields, activation: draw.activation() }],
      inputs: [x, weights, bias],
      outputs: [draw.result(kind, [batch, ...window.output, outer])],
      ...tolerance(kind, elementCount(shape) / outer),
    };
  },
};

const pool = (kinds: readonly Kind[]): LiteCases => ({
  kinds,
  draw(draw, kind) {
    const given = draw.image();
    const window = windowOf(draw, 2, { dilates: false, sizes: given?.slice(1, 3) });
    const [filterH = 1, filterW = 1] = window.kernel;
    const [batch, channels] = [given?.[0] ?? draw.int(1, 2), given?.[3] ?? draw.int(1, 9)];
    const x = draw.operand(kind, [batch, ...window.input, channels], { elements: reals });
    const activation = draw.activation();
    return {
      options: ['pool2d', { ...fieldsOf(window), filterH, filterW, activation }],
      inputs: [x],
      outputs: [like(x, [batch, ...window.output, channels])],
    };
  },
});

const fullyConnected: LiteCases = {
  kinds: FORMS,
  draw(draw, kind) {
    const [inner, outer] = [draw.int(1, 40), draw.int(1, 20)];
    const rows = draw.pick([[1], [3], [2, 3], [1, 2, 2]]);
    const x = draw.operand(kind, [...rows, inner], { elements: reals });
    const [weights, bias] = layer(draw, kind, x, {
      shape: [outer, inner],
      axis: 0,
      isPerChannel: kind === 'int8' && draw.often(0.5),
    });
    const keepDims = rows.length > 1 && draw.often(0.5);
    const shape = keepDims ? [...rows, outer] : [elementCount(rows), outer];
    return {
      options: ['fullyConnected', { activation: draw.activation(), keepDims }],
      inputs: [x, weights, bias],
      outputs: [draw.result(kind, shape, inner)],
      ...tolerance(kind, inner),
    };
  },
};

const batchMatMul: LiteCases = {
  kinds: ['float32', 'int8'],
  draw(draw, kind) {
    const [rows, inner, columns] = [draw.int(1, 5), draw.int(1, 16), draw.int(1, 5)];
    const batch = draw.dims(0, 2);
    const [adjointX, adjointY] = [draw.often(0.5), draw.often(0.5)];
    const left = adjointX ? [inner, rows] : [rows, inner];
    const right = adjointY ? [columns, inner] : [inner, columns];
    const a = draw.operand(kind, [...batch, ...left], { elements: reals });
    const b = draw.operand(
      kind,
      [...(draw.often(0.3) ? draw.broadcastable(batch) : batch), ...right],
      { elements: reals },
    );
    return {
      options: ['batchMatMul', { adjointX, adjointY }],
      inputs: [a, b],
      outputs: [draw.result(kind, [...batch, rows, columns], inner)],
      ...tolerance(kind, inner),
    };
  },
};

const resize = (table: string): LiteCases => ({
  kinds: ['float32', 'int8', 'uint8'],
  draw(draw, kind) {
    const given = draw.image() ?? [draw.int(1, 2), draw.int(1, 7), draw.int(1, 7), draw.int(1, 6)];
    const [batch = 1, height = 1, width = 1, channels = 1] = given;
    const input = [height, width];
    const output = [draw.int(1, 12), draw.int(1, 12)];
    const x = draw.operand(kind, [batch, ...input, channels], { elements: reals });
    const alignCorners = draw.often(0.4);
    return {
      options: [table, { alignCorners, halfPixel: !alignCorners && draw.often(0.5) }],
      inputs: [x, i32(output)],
      outputs: [like(x, [batch, ...output, channels])],
    };
  },
});

const responseNormalization: LiteCases = {
  kinds: ['float32'],
  draw(draw, kind) {
    const x = draw.operand(kind, [draw.int(1, 2), draw.int(1, 4), draw.int(1, 4), draw.int(1, 9)], {
      elements: reals,
    });
    const fields = {
      radius: draw.int(0, 3),
      bias: draw.real(0.5, 2),
      alpha: draw.real(0.1, 1),
      beta: draw.pick([0.5, 0.75, 1]),
    };
    return { options: ['responseNormalization', fields], inputs: [x], outputs: [like(x, x.shape)] };
  },
};

export const CONVOLUTION: LiteCaseTable = {
  CONV_2D: conv2d,
  DEPTHWISE_CONV_2D: depthwise,
  TRANSPOSE_CONV: transposeConv,
  CONV_3D: conv3d,
  MAX_POOL_2D: pool(['float32', 'int8', 'uint8', 'int16']),
  AVERAGE_POOL_2D: pool(['float32', 'int8', 'uint8', 'int16']),
  L2_POOL_2D: pool(['float32']),
  FULLY_CONNECTED: fullyConnected,
  BATCH_MATMUL: batchMatMul,
  RESIZE_BILINEAR: resize('resizeBilinear'),
  RESIZE_NEAREST_NEIGHBOR: resize('resizeNearest'),
  LOCAL_RESPONSE_NORMALIZATION: responseNormalization,
};
