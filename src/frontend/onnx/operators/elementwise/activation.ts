import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { dtypeInfo } from '../../../../core/tensor/dtype.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { number, unary } from './elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

const biasGelu =
  (approximate: 'none' | 'tanh'): NodeImporter =>
  (node) => {
    const bias = node.inputs[1];
    const x = node.input(0);
    const sum = bias === undefined ? x : node.call('add', [x, bias]);
    return node.call('gelu', [sum], { approximate });
  };

function importQuickGelu(node: ImportNode): Expr {
  const x = node.input(0);
  const alpha = number(node, x, node.attributes.float('alpha', 1.702));
  return node.call('mul', [x, node.call('sigmoid', [node.call('mul', [x, alpha])])]);
}

function importBiasAdd(node: ImportNode): Expr {
  return node.chain('add', [node.input(0), node.input(1), node.input(2)]);
}

/** The first half of the channels times GELU of the second. */
function importBiasSplitGelu(node: ImportNode): Expr {
  const x = node.call('add', [node.input(0), node.input(1)]);
  const shape = node.shape(x);
  const axis = shape.length - 1;
  const end = shape[axis] ?? 1;
  const half = node.dims.floordiv(end, 2);
  const left = sliceAlong(node, x, { axis, start: 0, end: half });
  const right = sliceAlong(node, x, { axis, start: half, end });
  return node.call('mul', [left, node.call('gelu', [right], { approximate: 'none' })]);
}

export const MICROSOFT_ACTIVATION_IMPORTERS: OperatorImporters = {
  BiasAdd: since(1, 'add', importBiasAdd),
  BiasGelu: since(1, 'gelu add', biasGelu('none')),
  BiasSplitGelu: since(1, 'gelu add slice mul', importBiasSplitGelu),
  FastGelu: since(1, 'gelu add', biasGelu('tanh')),
  Gelu: since(1, 'gelu', (node) => node.call('gelu', [node.input(0)], { approximate: 'none' })),
  QuickGelu: since(1, 'sigmoid mul', importQuickGelu),
};

/** The default of the attributes of Clip: the largest number of float32. */
const LARGEST = 3.4028234663852886e38;

function importClip(node: ImportNode): Expr {
  const x = node.input(0);
  if (node.opset < 11) {
    const min = node.attributes.float('min', -LARGEST);
    const max = node.attributes.float('max', LARGEST);
    return clip(node, x, { min, max });
  }
  const [, low, high] = node.inputs;
  const isConstant = [low, high].every((bound) => bound === undefined || bound.kind === 'constant');
  if (isConstant && dtypeInfo(node.type(x).dtype).category === 'float') {
    const min = node.numberInput(1, 'bounds');
    const max = node.numberInput(2, 'bounds');
    return clip(node, x, { min, max });
  }
  const raised = low === undefined ? x : node.call('maximum', [x, low]);
  return high === undefined ? raised : node.call('minimum', [raised, high]);
}

function clip(
  node: ImportNode,
  x: Expr,
  { min, max }: { min: number | undefined; max: number | undefined },
): Expr {
  // A one-sided clip must leave infinities on the other side alone.
  if (min !== undefined && max !== undefined) return node.call('clip', [x], { min, max });
  if (min !== undefined) return node.call('maximum', [x, number(node, x, min)]);
  return max === undefined ? x : node.call('minimum', [x, number(node, x, max)]);
}

/** x where x >= 0, else `slope` times x, which may be a tensor. */
function importPRelu(node: ImportNode): Expr {
  const x = node.input(0);
  const scaled = node.call('mul', [x, alignedSlope(node, x)]);
  return node.call('where', [node.call('less', [x, number(node, x, 0)]), scaled, x]);
}

/** Before opset 7 a slope of one dimension belongs to the channels. */
function alignedSlope(node: ImportNode, x: Expr): Expr {
  const slope = node.input(1);
  const [channels, ...rest] = node.shape(slope);
  const rank = node.shape(x).length;
  if (node.opset >= 7 || rest.length > 0 || channels === undefined || rank < 2) return slope;
  return node.reshape(slope, [channels, ...new Array<number>(rank - 2).fill(1)]);
}

function importHardSigmoid(node: ImportNode): Expr {
  const alpha = node.attributes.float('alpha', 0.2);
  const beta = node.attributes.float('beta', 0.5);
  const x = node.input(0);
  return hardSigmoid(node, node.call('mul', [x, number(node, x, alpha)]), beta);
}

function hardSigmoid(node: ImportNode, scaled: Expr, beta: number): Expr {
  const shifted = node.call('add', [scaled, number(node, scaled, beta)]);
  return node.call('clip', [shifted], { min: 0, max: 1 });
}

function importHardSwish(node: ImportNode): Expr {
  const x = node.input(0);
  const isWide = /32|64/.test(node.type(x).dtype);
  // A sixth of few bits is so far off that the result at -3 is not 0.
  const scaled = isWide
    ? node.call('mul', [x, number(node, x, 1 / 6)])
    : node.call('div', [x, number(node, x, 6)]);
  return node.call('mul', [x, hardSigmoid(node, scaled, 0.5)]);
}

/** max(x, 0) + scale * (exp(min(x, 0) / width) - 1): no exponential overflows. */
function exponentialUnit(
  node: ImportNode,
  { scale, width = 1 }: { readonly scale: number; readonly width?: number },
): Expr {
  const x = node.input(0);
  const negative = node.call('minimum', [x, number(node, x, 0)]);
  const exponent = width === 1 ? negative : node.call('div', [negative, number(node, x, width)]);
  const below = node.call('sub', [node.call('exp', [exponent]), number(node, x, 1)]);
  const scaled = node.call('mul', [below, number(node, x, scale)]);
  return node.call('add', [node.call('relu', [x]), scaled]);
}

function importCelu(node: ImportNode): Expr {
  const alpha = node.attributes.float('alpha', 1);
  if (alpha === 0) throw node.malformed('alpha 0', 'another alpha: it is divided by');
  if (alpha > 0) return exponentialUnit(node, { scale: alpha, width: alpha });
  // With a negative alpha it is where x is positive that the exponential counts.
  const x = node.input(0);
  const grown = node.call('exp', [node.call('div', [x, number(node, x, alpha)])]);
  const scaled = node.call('mul', [
    node.call('sub', [grown, number(node, x, 1)]),
    number(node, x, alpha),
  ]);
  const below = node.call('minimum', [scaled, number(node, x, 0)]);
  return node.call('add', [node.call('relu', [x]), below]);
}

function importSelu(node: ImportNode): Expr {
  const alpha = node.attributes.float('alpha', 1.6732632423543772);
  const gamma = node.attributes.float('gamma', 1.0507009873554805);
  const x = node.input(0);
  return node.call('mul', [exponentialUnit(node, { scale: alpha }), number(node, x, gamma)]);
}

/** log(1 + exp(x)) of a node's input, or of another value. */
export function softplus(node: ImportNode, x = node.input(0)): Expr {
  const decay = node.call('exp', [node.call('neg', [node.call('abs', [x])])]);
  return node.call('add', [node.call('relu', [x]), node.call('log1p', [decay])]);
}

function importMish(node: ImportNode): Expr {
  return node.call('mul', [node.input(0), node.call('tanh', [softplus(node)])]);
}

function importSoftsign(node: ImportNode): Expr {
  const x = node.input(0);
  const size = node.call('add', [number(node, x, 1), node.call('abs', [x])]);
  return node.call('div', [x, size]);
}

function importSwish(node: ImportNode): Expr {
  const x = node.input(0);
  const alpha = node.attributes.float('alpha', 1);
  const scaled = alpha === 1 ? x : node.call('mul', [x, number(node, x, alpha)]);
  return node.call('mul', [x, node.call('sigmoid', [scaled])]);
}

function importThresholdedRelu(node: ImportNode): Expr {
  const x = node.input(0);
  const isAbove = node.call('greater', [x, number(node, x, node.attributes.float('alpha', 1))]);
  return node.call('where', [isAbove, x, number(node, x, 0)]);
}

function importShrink(node: ImportNode): Expr {
  const x = node.input(0);
  const bias = node.attributes.float('bias', 0);
  const lambda = node.attributes.float('lambd', 0.5);
  if (dtypeInfo(node.type(x).dtype).category !== 'float' && !Number.isInteger(bias)) {
    throw node.unsupported(`bias ${bias} of integers`, 'an integer');
  }
  const shifted = (sign: 'add' | 'sub') => node.call(sign, [x, number(node, x, bias)]);
  const isBelow = node.call('less', [x, threshold(node, x, { value: -lambda, round: Math.ceil })]);
  const isAbove = node.call('greater', [
    x,
    threshold(node, x, { value: lambda, round: Math.floor }),
  ]);
  const above = node.call('where', [isAbove, shifted('sub'), number(node, x, 0)]);
  return node.call('where', [isBelow, shifted('add'), above]);
}

/**
 * A bound that integers are compared with is rounded so that the comparison stays the same. Of
 * unsigned ones it is 0 at least: below a negative bound is none of them, and where the upper bound
 * is negative, 0 is below the other.
 */
function threshold(
  node: ImportNode,
  x: Expr,
  { value, round }: { readonly value: number; readonly round: (value: number) => number },
): Expr {
  const { category } = dtypeInfo(node.type(x).dtype);
  if (category === 'float') return number(node, x, value);
  return number(node, x, category === 'uint' ? Math.max(round(value), 0) : round(value));
}

export const ACTIVATION_IMPORTERS: OperatorImporters = {
  Celu: since(12, 'relu minimum div exp sub mul add', importCelu),
  Clip: since(1, 'maximum minimum clip', importClip),
  Elu: since(1, 'relu minimum exp sub mul add', (node) =>
    exponentialUnit(node, { scale: node.attributes.float('alpha', 1) }),
  ),
  Gelu: since(20, 'gelu', (node) =>
    node.call('gelu', [node.input(0)], {
      approximate: node.attributes.string('approximate', 'none'),
    }),
  ),
  HardSigmoid: since(1, 'mul add clip', importHardSigmoid),
  HardSwish: since(14, 'mul add clip', importHardSwish),
  LeakyRelu: since(1, 'leaky_relu', (node) =>
    node.call('leaky_relu', [node.input(0)], { alpha: node.attributes.float('alpha', 0.01) }),
  ),
  Mish: since(18, 'relu abs neg exp log1p add tanh mul', importMish),
  PRelu: since(1, 'mul less where reshape', importPRelu),
  Relu: { since: 1, ...unary('relu') },
  Selu: since(1, 'relu minimum exp sub mul add', importSelu),
  Shrink: since(9, 'less add greater sub where', importShrink),
  Sigmoid: { since: 1, ...unary('sigmoid') },
  Softplus: since(1, 'relu abs neg exp log1p add', (node) => softplus(node)),
  Softsign: since(1, 'abs add div', importSoftsign),
  SwiGLU: since(28, 'mul sigmoid', (node) => node.call('mul', [importSwish(node), node.input(1)])),
  Swish: since(24, 'sigmoid mul', importSwish),
  Tanh: { since: 1, ...unary('tanh') },
  ThresholdedRelu: since(10, 'greater where', importThresholdedRelu),
};
