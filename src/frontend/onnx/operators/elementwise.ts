import { type DType, dtypeInfo, isDType } from '../../../core/dtype.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { opDefinition } from '../../../ops/registry.ts';
import { dtypeFromOnnx } from '../protobuf/read-tensor.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';

const unary =
  (op: string): NodeImporter =>
  (node) =>
    node.call(op, [node.input(0)]);

const binary =
  (op: string): NodeImporter =>
  (node) =>
    node.call(op, [node.input(0), alignedSecondInput(node)]);

const variadic =
  (op: string): NodeImporter =>
  (node) =>
    node.chain(op, node.allInputs());

/** Before opset 7 broadcasting was asked for, and `axis` said where the second shape begins. */
function alignedSecondInput(node: ImportNode): Expr {
  const right = node.input(1);
  if (node.opset >= 7) return right;
  const isBroadcast = node.attributes.bool('broadcast');
  const axis = node.attributes.int('axis');
  if (!isBroadcast || axis === undefined) return right;
  const rank = node.shape(node.input(0)).length;
  const shape = node.shape(right);
  const trailing = rank - (axis < 0 ? axis + rank : axis) - shape.length;
  if (trailing < 0) throw node.malformed(`axis ${axis}`, 'an axis within the first input');
  return node.reshape(right, [...shape, ...new Array<number>(trailing).fill(1)]);
}

function importPow(node: ImportNode): Expr {
  const base = node.input(0);
  const exponent = alignedSecondInput(node);
  const { dtype } = node.type(base);
  const same = node.type(exponent).dtype === dtype;
  return node.call('pow', [base, same ? exponent : cast(node, exponent, dtype)]);
}

function importCast(node: ImportNode): Expr {
  node.attributes.ignore('saturate', 'round_mode');
  const to =
    node.opset < 6
      ? node.attributes
          .string('to', '')
          .toLowerCase()
          .replace(/^float$/, 'float32')
      : dtypeFromOnnx(node.attributes.int('to'), node.where);
  if (!isDType(to)) throw node.malformed(`a cast to ${JSON.stringify(to)}`, 'an element type');
  return cast(node, node.input(0), to);
}

function cast(node: ImportNode, x: Expr, to: DType): Expr {
  if (node.type(x).dtype === to) return x;
  const dtypes = opDefinition('cast').inputs[0]?.dtypes ?? [];
  if (x.kind !== 'constant' && !dtypes.includes(to)) {
    throw node.unsupported(`a cast to ${to}`, `to ${dtypes.join(', ')}`);
  }
  return node.call('cast', [x], { to });
}

function importClip(node: ImportNode): Expr {
  const x = node.input(0);
  const { dtype } = node.type(x);
  if (node.opset < 11) {
    const min = node.attributes.float('min');
    const max = node.attributes.float('max');
    return clip(node, x, { min, max });
  }
  const [, low, high] = node.inputs;
  const isConstant = [low, high].every((bound) => bound === undefined || bound.kind === 'constant');
  if (isConstant && dtypeInfo(dtype).category === 'float') {
    const min = node.numberInput(1, 'bounds');
    const max = node.numberInput(2, 'bounds');
    return clip(node, x, { min, max });
  }
  const raised = low === undefined ? x : node.call('maximum', [x, low]);
  return high === undefined ? raised : node.call('minimum', [raised, high]);
}

const LARGEST_FLOAT = 3.4028234663852886e38;

function clip(
  node: ImportNode,
  x: Expr,
  { min, max }: { min: number | undefined; max: number | undefined },
): Expr {
  if (min === undefined && max === undefined) return x;
  // A one-sided clip must leave infinities on the other side alone.
  if (max === undefined) return node.call('maximum', [x, node.scalar(min ?? -LARGEST_FLOAT)]);
  if (min === undefined) return node.call('minimum', [x, node.scalar(max)]);
  return node.call('clip', [x], { min, max });
}

function importLeakyRelu(node: ImportNode): Expr {
  return node.call('leaky_relu', [node.input(0)], { alpha: node.attributes.float('alpha', 0.01) });
}

function importPRelu(node: ImportNode): Expr {
  const x = node.input(0);
  const slope = alignedSlope(node, x);
  const negative = node.call('minimum', [x, zero(node, x)]);
  return node.call('add', [node.call('relu', [x]), node.call('mul', [slope, negative])]);
}

/** Before opset 7 a slope of one dimension belongs to the channels. */
function alignedSlope(node: ImportNode, x: Expr): Expr {
  const slope = node.input(1);
  const [channels, ...rest] = node.shape(slope);
  const rank = node.shape(x).length;
  if (node.opset >= 7 || rest.length > 0 || channels === undefined || rank < 2) return slope;
  return node.reshape(slope, [channels, ...new Array<number>(rank - 2).fill(1)]);
}

function zero(node: ImportNode, like: Expr): Expr {
  return node.scalar(0, floatType(node, like));
}

function floatType(node: ImportNode, expr: Expr): DType {
  return node.type(expr).dtype;
}

function importHardSigmoid(node: ImportNode): Expr {
  const alpha = node.attributes.float('alpha', 0.2);
  const beta = node.attributes.float('beta', 0.5);
  return hardSigmoid(node, { alpha, beta });
}

function hardSigmoid(node: ImportNode, { alpha, beta }: { alpha: number; beta: number }): Expr {
  const scaled = node.call('mul', [node.input(0), node.scalar(alpha)]);
  return node.call('clip', [node.call('add', [scaled, node.scalar(beta)])], { min: 0, max: 1 });
}

function importHardSwish(node: ImportNode): Expr {
  return node.call('mul', [node.input(0), hardSigmoid(node, { alpha: 1 / 6, beta: 0.5 })]);
}

function importMean(node: ImportNode): Expr {
  const inputs = node.allInputs();
  return node.call('div', [node.chain('add', inputs), node.scalar(inputs.length)]);
}

function importCeil(node: ImportNode): Expr {
  return node.call('neg', [node.call('floor', [node.call('neg', [node.input(0)])])]);
}

function importReciprocal(node: ImportNode): Expr {
  return node.call('div', [node.scalar(1), node.input(0)]);
}

function importWhere(node: ImportNode): Expr {
  return node.call('where', [node.input(0), node.input(1), node.input(2)]);
}

export const ELEMENTWISE_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  Abs: unary('abs'),
  Add: binary('add'),
  Cast: importCast,
  Ceil: importCeil,
  Clip: importClip,
  Div: binary('div'),
  Equal: binary('equal'),
  Erf: unary('erf'),
  Exp: unary('exp'),
  Floor: unary('floor'),
  Gelu: (node) =>
    node.call('gelu', [node.input(0)], {
      approximate: node.attributes.string('approximate', 'none'),
    }),
  Greater: binary('greater'),
  HardSigmoid: importHardSigmoid,
  HardSwish: importHardSwish,
  LeakyRelu: importLeakyRelu,
  Less: binary('less'),
  Log: unary('log'),
  Max: variadic('maximum'),
  Mean: importMean,
  Min: variadic('minimum'),
  Mul: binary('mul'),
  Neg: unary('neg'),
  Not: unary('logical_not'),
  PRelu: importPRelu,
  Pow: importPow,
  Reciprocal: importReciprocal,
  Relu: unary('relu'),
  Sigmoid: unary('sigmoid'),
  Sqrt: unary('sqrt'),
  Sub: binary('sub'),
  Sum: variadic('add'),
  Tanh: unary('tanh'),
  Where: importWhere,
};
