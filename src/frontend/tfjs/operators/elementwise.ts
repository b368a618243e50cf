import type { Expr } from '../../../compiler/ir/expr.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { elementType } from '../node-protos.ts';
import { becomes, type TensorflowNode, type TensorflowOperators } from '../tensorflow-node.ts';

/** An operator that ONNX has under some name. */
const unary = (makes: string, name: string) =>
  becomes(makes, (node) => node.one(name, [node.input(0)]));

/** The same for numbers with fractions alone: TensorFlow.js computes them of integers too. */
const unaryFloat = (makes: string, name: string) =>
  becomes(`${makes} cast`, (node) => node.one(name, [node.cast(node.input(0), 'float32')]));

const binary = (makes: string, compute: (node: TensorflowNode, a: Expr, b: Expr) => Expr) =>
  becomes(`${makes} cast`, (node) => {
    const [a = node.input(0), b = node.input(1)] = node.matched(node.input(0), node.input(1));
    return compute(node, a, b);
  });

const binaryOf = (makes: string, name: string) =>
  binary(makes, (node, a, b) => node.one(name, [a, b]));

const isInteger = (node: TensorflowNode, x: Expr): boolean => node.type(x).dtype !== 'float32';

/** Rounded down, also where one is below zero. */
function floorDiv(node: TensorflowNode, a: Expr, b: Expr): Expr {
  if (!isInteger(node, a)) return node.call('floor', [node.call('div', [a, b])]);
  const isSize = [a, b].every((x) => x.kind === 'constant' || node.shapeValue(x) !== undefined);
  if (isSize) return node.one('Div', [a, b]);
  return node.call('div', [node.call('sub', [a, node.call('mod', [a, b])]), b]);
}

function divide(node: TensorflowNode, a: Expr, b: Expr): Expr {
  return isInteger(node, a) ? floorDiv(node, a, b) : node.call('div', [a, b]);
}

function floorMod(node: TensorflowNode, a: Expr, b: Expr): Expr {
  if (isInteger(node, a)) return node.one('Mod', [a, b]);
  return node.call('sub', [a, node.call('mul', [b, floorDiv(node, a, b)])]);
}

function select(node: TensorflowNode): Expr {
  const [x = node.input(1), y = node.input(2)] = node.matched(node.input(1), node.input(2));
  const condition = node.input(0);
  const missing = node.rank(x) - node.rank(condition);
  // A condition with one element for each of the first axis.
  const isOfRows = node.opType === 'Select' && node.rank(condition) === 1 && missing > 0;
  const axes = Array.from({ length: missing }, (_, i) => i + 1);
  const aligned = isOfRows ? node.one('Unsqueeze', [condition, node.int64s(axes)]) : condition;
  return node.one('Where', [aligned, x, y]);
}

/** atan2(y, x) by the quadrant of the point. */
function atan2(node: TensorflowNode, y: Expr, x: Expr): Expr {
  const zero = node.scalar(0);
  const angle = node.call('atan', [node.call('div', [y, x])]);
  const turned = node.call('where', [
    node.call('less', [y, zero]),
    node.call('sub', [angle, node.scalar(Math.PI)]),
    node.call('add', [angle, node.scalar(Math.PI)]),
  ]);
  const beside = node.call('where', [node.call('less', [x, zero]), turned, angle]);
  const both = node.call('logical_not', [
    node.call('bitwise_or', [
      node.call('logical_not', [node.call('equal', [x, zero])]),
      node.call('logical_not', [node.call('equal', [y, zero])]),
    ]),
  ]);
  return node.call('where', [both, node.call('mul', [node.call('add', [x, y]), zero]), beside]);
}

function cast(node: TensorflowNode): Expr {
  const type = node.attributes.string('DstT', 'DT_FLOAT');
  if (/COMPLEX|STRING|VARIANT/.test(type)) {
    throw node.unsupported(`elements of type ${type}`, 'numbers or booleans');
  }
  const to: DType = elementType(type);
  return node.cast(node.input(0), to);
}

/** What a fused operator applies behind its product, but for its bias. */
export function activate(node: TensorflowNode, x: Expr, name: string): Expr {
  switch (name) {
    case 'Relu':
    case 'Elu':
    case 'Sigmoid':
    case 'Tanh':
      return node.one(name, [x]);
    case 'Relu6':
      return node.call('clip', [x], { min: 0, max: 6 });
    case 'LeakyRelu':
      return node.call('leaky_relu', [x], { alpha: node.attributes.float('leakyrelu_alpha', 0.2) });
    default:
      throw node.unsupported(
        `the fused operator ${name}`,
        'BiasAdd, Relu, Relu6, Elu, Sigmoid, Tanh, LeakyRelu or Prelu',
      );
  }
}

const like = (value: number) => (node: TensorflowNode) => {
  const x = node.input(0);
  const { dtype, shape } = node.type(x);
  const single = node.cast(node.scalar(value), dtype);
  return node.one('Expand', [single, node.sizes(shape)]);
};

const identity = becomes('', (node) => node.input(0));

export const ELEMENTWISE: TensorflowOperators = {
  Abs: unary('abs', 'Abs'),
  Acos: unaryFloat('acos', 'Acos'),
  Acosh: unaryFloat('acosh', 'Acosh'),
  Asin: unaryFloat('asin', 'Asin'),
  Asinh: unaryFloat('asinh', 'Asinh'),
  Atan: unaryFloat('atan', 'Atan'),
  Atanh: unaryFloat('atanh', 'Atanh'),
  Ceil: unary('ceil', 'Ceil'),
  Cos: unaryFloat('cos', 'Cos'),
  Cosh: unaryFloat('cosh', 'Cosh'),
  Elu: unaryFloat('exp', 'Elu'),
  Erf: unaryFloat('erf', 'Erf'),
  Exp: unaryFloat('exp', 'Exp'),
  Expm1: becomes('exp sub', (node) =>
    node.call('sub', [node.call('exp', [node.input(0)]), node.scalar(1)]),
  ),
  Floor: unary('floor', 'Floor'),
  IsNan: unary('is_nan', 'IsNaN'),
  Log: unaryFloat('log', 'Log'),
  Log1p: becomes('log1p', (node) => node.call('log1p', [node.input(0)])),
  LogicalNot: unary('logical_not', 'Not'),
  Neg: unary('neg', 'Neg'),
  Reciprocal: unaryFloat('div', 'Reciprocal'),
  Inv: unaryFloat('div', 'Reciprocal'),
  Relu: unary('relu', 'Relu'),
  Relu6: becomes('clip', (node) => activate(node, node.input(0), 'Relu6')),
  LeakyRelu: becomes('leaky_relu', (node) =>
    node.call('leaky_relu', [node.input(0)], { alpha: node.attributes.float('alpha', 0.2) }),
  ),
  Prelu: becomes('where mul', (node) => node.one('PRelu', [node.input(0), node.input(1)])),
  Round: unary('round', 'Round'),
  Rsqrt: becomes('sqrt div', (node) =>
    node.one('Reciprocal', [node.call('sqrt', [node.input(0)])]),
  ),
  Selu: unaryFloat('exp', 'Selu'),
  Sigmoid: unaryFloat('sigmoid', 'Sigmoid'),
  Sign: unary('sign', 'Sign'),
  Sin: unaryFloat('sin', 'Sin'),
  Sinh: unaryFloat('sinh', 'Sinh'),
  Softplus: unaryFloat('exp log1p', 'Softplus'),
  Sqrt: unaryFloat('sqrt', 'Sqrt'),
  Square: becomes('mul', (node) => node.call('mul', [node.input(0), node.input(0)])),
  Tan: unaryFloat('tan', 'Tan'),
  Tanh: unaryFloat('tanh', 'Tanh'),
  ZerosLike: becomes('broadcast_to cast', like(0)),
  OnesLike: becomes('broadcast_to cast', like(1)),
  ClipByValue: becomes('minimum maximum', (node) =>
    node.call('minimum', [node.call('maximum', [node.input(0), node.input(1)]), node.input(2)]),
  ),

  Add: binaryOf('add', 'Add'),
  AddV2: binaryOf('add', 'Add'),
  BiasAdd: becomes('add', (node) => {
    const [x, bias] = [node.input(0), node.input(1)];
    if (!node.hasChannelsFirst) return node.call('add', [x, bias]);
    const [count = 1] = node.shape(bias);
    return node.call('add', [
      x,
      node.reshape(bias, [
        count,
        ...node
          .shape(x)
          .slice(2)
          .map(() => 1),
      ]),
    ]);
  }),
  Sub: binaryOf('sub', 'Sub'),
  Mul: binaryOf('mul', 'Mul'),
  RealDiv: binary('div floor mod sub', divide),
  Div: binary('div floor mod sub', divide),
  DivNoNan: binary('div where equal', (node, a, b) => {
    const zero = node.scalar(0);
    return node.call('where', [node.call('equal', [b, zero]), zero, node.call('div', [a, b])]);
  }),
  FloorDiv: binary('div floor mod sub', floorDiv),
  FloorMod: binary('mod sub mul div floor', floorMod),
  Mod: binary('mod sub mul div floor', floorMod),
  Maximum: binaryOf('maximum', 'Max'),
  Minimum: binaryOf('minimum', 'Min'),
  Pow: binaryOf('pow', 'Pow'),
  SquaredDifference: binary('sub mul', (node, a, b) => {
    const difference = node.call('sub', [a, b]);
    return node.call('mul', [difference, difference]);
  }),
  Atan2: binary('atan where', atan2),
  Equal: binaryOf('equal', 'Equal'),
  NotEqual: binary('equal logical_not', (node, a, b) =>
    node.call('logical_not', [node.one('Equal', [a, b])]),
  ),
  Greater: binaryOf('greater', 'Greater'),
  GreaterEqual: binaryOf('greater_equal', 'GreaterOrEqual'),
  Less: binaryOf('less', 'Less'),
  LessEqual: binaryOf('less_equal', 'LessOrEqual'),
  LogicalAnd: binaryOf('bitwise_and', 'And'),
  LogicalOr: binaryOf('bitwise_or', 'Or'),
  LogicalXor: binaryOf('bitwise_xor', 'Xor'),
  AddN: becomes('add', (node) => node.chain('add', node.allInputs())),
  Select: becomes('where', select),
  SelectV2: becomes('where', select),
  Cast: becomes('cast', cast),
  Identity: identity,
  StopGradient: identity,
  PreventGradient: identity,
  Snapshot: identity,
  CheckNumerics: identity,
  IdentityN: becomes('', (node) => node.allInputs()),
  PlaceholderWithDefault: identity,
};
