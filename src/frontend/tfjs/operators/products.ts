import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { becomes, type TensorflowNode, type TensorflowOperators } from '../tensorflow-node.ts';
import type { OnnxAttribute } from '../../foreign/onnx-attribute.ts';
import { activate } from './elementwise.ts';

/** The numbers of the two spatial axes of a list with one for each axis. */
function spatial(node: TensorflowNode, name: string, isFirst: boolean): readonly number[] {
  const all = node.attributes.ints(name) ?? [1, 1, 1, 1];
  if (all.length !== 4) throw node.malformed(`${all.length} ${name}`, '4');
  return isFirst ? all.slice(2) : all.slice(1, 3);
}

/** Padding as ONNX's windows have it. */
function padding(node: TensorflowNode, isFirst: boolean): Record<string, OnnxAttribute> {
  const kind = node.attributes.string('padding', 'VALID');
  const explicit = node.attributes.ints('explicit_paddings') ?? [];
  if (kind === 'SAME') return { auto_pad: 'SAME_UPPER' };
  if (kind === 'VALID') return { auto_pad: 'VALID' };
  if (kind !== 'EXPLICIT' || explicit.length !== 8) {
    throw node.malformed(
      `padding ${kind} of ${explicit.length} numbers`,
      'SAME, VALID or EXPLICIT of 8',
    );
  }
  const pads = isFirst ? explicit.slice(4) : explicit.slice(2, 6);
  const [top = 0, bottom = 0, left = 0, right = 0] = pads;
  return { pads: [top, left, bottom, right] };
}

/** What is fused behind a product: the bias, and what follows. */
function fused(node: TensorflowNode): { bias: Expr | undefined; names: readonly string[] } {
  const names = node.attributes.strings('fused_ops') ?? [];
  node.attributes.ignore('epsilon', 'leakyrelu_alpha');
  const hasBias = names[0] === 'BiasAdd';
  return { bias: hasBias ? node.input(2) : undefined, names: hasBias ? names.slice(1) : names };
}

/** `behind` gives the value in the layout of the graph. */
function finished(
  node: TensorflowNode,
  x: Expr,
  { names, behind }: { names: readonly string[]; behind: (x: Expr) => Expr },
): Expr {
  const [name, ...more] = names;
  if (name === undefined) return behind(x);
  if (more.length > 0) throw node.unsupported(`fused operators ${names.join(', ')}`, 'one');
  if (name === 'Prelu') return node.one('PRelu', [behind(x), node.input(3)]);
  return behind(activate(node, x, name));
}

const convolution = (isDepthwise: boolean) => (node: TensorflowNode) => {
  const isFirst = node.hasChannelsFirst;
  const [x, filter] = [node.input(0), node.input(1)];
  const [height = 1, width = 1, each = 1, count = 1] = node.shape(filter);
  const strides = spatial(node, 'strides', isFirst);
  const dilations = spatial(node, 'dilations', isFirst);
  const { bias, names } = fused(node);
  const { dims } = node;
  const weights = isDepthwise
    ? node.reshape(node.transpose(filter, [2, 3, 0, 1]), [dims.mul(each, count), 1, height, width])
    : node.transpose(filter, [3, 2, 0, 1]);
  const channels = dims.floordiv(node.shape(x)[isFirst ? 1 : 3] ?? 1, each);
  const group = isDepthwise
    ? node.number(each, 'the number of channels')
    : typeof channels === 'number'
      ? channels
      : 1;
  const result = node.one('Conv', [node.channelsSecond(x, isFirst), weights, bias], {
    strides,
    dilations,
    group,
    kernel_shape: node.numbers([height, width], 'the size of a kernel'),
    ...padding(node, isFirst),
  });
  return finished(node, result, { names, behind: (y) => node.asGiven(y, isFirst) });
};

/** The gradient of a convolution by its input, as which layers that enlarge pictures are written. */
function transposedConvolution(node: TensorflowNode): Expr {
  const isFirst = node.hasChannelsFirst;
  const shape = node.dimsInput(0, 'sizes of the result') ?? [];
  const [filter, x] = [node.input(1), node.input(2)];
  const size = isFirst ? shape.slice(2) : shape.slice(1, 3);
  const kernel = node.shape(filter).slice(0, 2);
  const strides = spatial(node, 'strides', isFirst);
  if (spatial(node, 'dilations', isFirst).some((step) => step !== 1)) {
    throw node.unsupported('dilations', '1');
  }
  const given = padding(node, isFirst);
  const input = node.channelsSecond(x, isFirst);
  const { dims } = node;
  const pads = node
    .shape(input)
    .slice(2)
    .map((from, axis): Dim => {
      if (Array.isArray(given['pads'])) return Number(given['pads'][axis]);
      if (given['auto_pad'] === 'VALID') return 0;
      const whole = dims.add(dims.mul(dims.sub(from, 1), strides[axis] ?? 1), kernel[axis] ?? 1);
      return dims.floordiv(dims.max(dims.sub(whole, size[axis] ?? 1), 0), 2);
    });
  const weights = node.transpose(filter, [3, 2, 0, 1]);
  const result = node.call('conv_transpose', [input, weights], { size, strides, pads });
  return node.asGiven(result, isFirst);
}

const pool = (name: 'MaxPool' | 'AveragePool') => (node: TensorflowNode) => {
  const isFirst = node.hasChannelsFirst;
  const result = node.one(name, [node.channelsSecond(node.input(0), isFirst)], {
    kernel_shape: spatial(node, 'ksize', isFirst),
    strides: spatial(node, 'strides', isFirst),
    ...padding(node, isFirst),
  });
  return node.asGiven(result, isFirst);
};

function batchNorm(node: TensorflowNode): readonly Expr[] {
  const isFirst = node.hasChannelsFirst;
  const epsilon = node.attributes.float('epsilon', 1e-3);
  node.attributes.ignore('exponential_avg_factor', 'U');
  if (node.attributes.bool('is_training', false)) {
    throw node.unsupported('normalisation by the batch itself', 'is_training=false');
  }
  const [x, scale, offset, mean, variance] = [0, 1, 2, 3, 4].map((i) => node.input(i));
  if (!x || !scale || !offset || !mean || !variance)
    throw node.malformed('no variance', '5 inputs');
  const root = node.call('sqrt', [node.call('add', [variance, node.scalar(epsilon)])]);
  const factor = node.call('div', [scale, root]);
  const shift = node.call('sub', [offset, node.call('mul', [mean, factor])]);
  const aligned = (each: Expr) =>
    isFirst ? node.reshape(each, [node.shape(each)[0] ?? 1, 1, 1]) : each;
  return [node.call('add', [node.call('mul', [x, aligned(factor)]), aligned(shift)])];
}

function swapped(node: TensorflowNode, x: Expr): Expr {
  const rank = node.rank(x);
  const perm = Array.from({ length: rank }, (_, i) => i);
  return node.transpose(x, [...perm.slice(0, -2), rank - 1, rank - 2]);
}

const product = (first: string, second: string) => (node: TensorflowNode) => {
  const { bias, names } = fused(node);
  const a = node.attributes.bool(first) ? swapped(node, node.input(0)) : node.input(0);
  const b = node.attributes.bool(second) ? swapped(node, node.input(1)) : node.input(1);
  const result = node.one('MatMul', node.matched(a, b));
  const sum = bias === undefined ? result : node.call('add', [result, bias]);
  return finished(node, sum, { names, behind: (x) => x });
};

const MATMUL = becomes('matmul add transpose', product('transpose_a', 'transpose_b'));
const BATCHED = becomes('matmul transpose', product('adj_x', 'adj_y'));
const CONV = becomes('conv2d transpose', convolution(false));
const DEPTHWISE = becomes('conv2d transpose reshape', convolution(true));
const NORM = becomes('mul add sqrt div sub', batchNorm);

export const PRODUCTS: TensorflowOperators = {
  MatMul: MATMUL,
  _FusedMatMul: MATMUL,
  BatchMatMul: BATCHED,
  BatchMatMulV2: BATCHED,
  Einsum: becomes('matmul transpose reshape mul reduce_sum', (node) =>
    node.one('Einsum', node.allInputs(), { equation: node.attributes.string('equation', '') }),
  ),
  Conv2D: CONV,
  _FusedConv2D: CONV,
  DepthwiseConv2d: DEPTHWISE,
  DepthwiseConv2dNative: DEPTHWISE,
  FusedDepthwiseConv2dNative: DEPTHWISE,
  Conv2DBackpropInput: becomes('conv_transpose transpose', transposedConvolution),
  MaxPool: becomes('max_pool transpose', pool('MaxPool')),
  AvgPool: becomes('avg_pool transpose', pool('AveragePool')),
  FusedBatchNorm: NORM,
  FusedBatchNormV2: NORM,
  FusedBatchNormV3: NORM,
};
