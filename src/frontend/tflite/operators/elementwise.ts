import type { Expr } from '../../../compiler/ir/expr.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { becomes, type LiteImporter, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import type { OptionName } from '../reader/options.ts';
import { activate } from './activation.ts';

const unary = (op: string): LiteImporter => becomes(op, (node) => node.call(op, [node.input(0)]));

const binary = (op: string): LiteImporter =>
  becomes(op, (node) => node.call(op, [node.input(0), node.input(1)]));

type Fused = Extract<OptionName, 'add' | 'sub' | 'mul' | 'div'>;

/** Arithmetic with an activation behind it. */
const fused = (op: Fused): LiteImporter =>
  becomes(op, (node) => {
    const result = node.call(op, [node.input(0), node.input(1)]);
    return activate(node, result, node.options(op).activation);
  });

const isFloat = (node: LiteNode, x: Expr): boolean =>
  dtypeInfo(node.type(x).dtype).category === 'float';

/** Rounded towards minus infinity. */
function floorDiv(node: LiteNode): Expr {
  const [a, b] = [node.input(0), node.input(1)];
  const quotient = node.call('div', [a, b]);
  if (isFloat(node, a)) return node.call('floor', [quotient]);
  // What is left has the sign of b where the quotient was rounded up.
  const rest = node.call('sub', [a, node.call('mul', [quotient, b])]);
  const zero = node.like(rest, 0);
  const differs = node.call('bitwise_xor', [
    node.call('less', [rest, zero]),
    node.call('less', [b, zero]),
  ]);
  const isRounded = node.call('bitwise_and', [
    node.call('logical_not', [node.call('equal', [rest, zero])]),
    differs,
  ]);
  return node.call('sub', [quotient, node.cast(isRounded, node.type(quotient).dtype)]);
}

function addN(node: LiteNode): Expr {
  return node.chain('add', node.allInputs());
}

function squaredDifference(node: LiteNode): Expr {
  const difference = node.call('sub', [node.input(0), node.input(1)]);
  return node.call('mul', [difference, difference]);
}

/** The angle of (x, y), by the arc tangent of their ratio and the quadrant. */
export function angleOf(node: LiteNode, y: Expr, x: Expr): Expr {
  const number = (value: number) => node.like(x, value);
  const [zero, pi] = [number(0), number(Math.PI)];
  const isLeft = node.call('less', [x, zero]);
  const isBelow = node.call('less', [y, zero]);
  const angle = node.call('atan', [node.call('div', [y, x])]);
  const turned = node.call('where', [isBelow, node.call('neg', [pi]), pi]);
  const whole = node.call('where', [isLeft, node.call('add', [angle, turned]), angle]);
  const upright = node.call('mul', [node.call('sign', [y]), number(Math.PI / 2)]);
  return node.call('where', [node.call('equal', [x, zero]), upright, whole]);
}

const not = (op: string): LiteImporter =>
  becomes(`logical_not ${op}`, (node) =>
    node.call('logical_not', [node.call(op, [node.input(0), node.input(1)])]),
  );

/** A fraction of floats towards zero, as C does; saturated as `cast` does. */
function cast(node: LiteNode): Expr {
  return node.cast(node.input(0), node.outputType());
}

/** Numbers as they are after they were rounded to a few bits. */
function fakeQuant(node: LiteNode): Expr {
  const { min, max, bits, narrow } = node.options('fakeQuant');
  if (!(bits >= 2 && bits <= 16) || !(min <= 0 && max >= 0 && max > min)) {
    throw node.malformed(`${bits} bits for ${min} to ${max}`, '2 to 16 for a range around 0');
  }
  const [lowest, highest] = [narrow ? 1 : 0, 2 ** bits - 1];
  const scale = (max - min) / (highest - lowest);
  const zero = Math.min(Math.max(Math.round(lowest - min / scale), lowest), highest);
  const x = node.input(0);
  const number = (value: number) => node.like(x, value);
  const [low, high] = [(lowest - zero) * scale, (highest - zero) * scale];
  const clipped = node.call('clip', [x], { min: Math.fround(low), max: Math.fround(high) });
  const steps = node.call('div', [node.call('sub', [clipped, number(low)]), number(scale)]);
  const whole = node.call('floor', [node.call('add', [steps, number(0.5)])]);
  return node.call('add', [node.call('mul', [whole, number(scale)]), number(low)]);
}

export const ELEMENTWISE_IMPORTERS: LiteImporters = {
  ABS: unary('abs'),
  ADD: fused('add'),
  ADD_N: becomes('add', addN),
  ATAN2: becomes('atan div where less add neg equal sign mul', (node) =>
    angleOf(node, node.input(0), node.input(1)),
  ),
  BITCAST: becomes('bitcast', (node) =>
    node.call('bitcast', [node.input(0)], { to: node.outputType() }),
  ),
  BITWISE_XOR: binary('bitwise_xor'),
  CAST: becomes('cast', cast),
  CEIL: unary('ceil'),
  COS: unary('cos'),
  DIV: fused('div'),
  EQUAL: binary('equal'),
  EXP: unary('exp'),
  FAKE_QUANT: becomes('floor clip sub div add mul', fakeQuant),
  FLOOR: unary('floor'),
  FLOOR_DIV: becomes(
    'div floor sub mul less bitwise_xor bitwise_and logical_not equal cast',
    floorDiv,
  ),
  FLOOR_MOD: binary('mod'),
  GREATER: binary('greater'),
  GREATER_EQUAL: binary('greater_equal'),
  LESS: binary('less'),
  LESS_EQUAL: binary('less_equal'),
  LOG: unary('log'),
  LOGICAL_AND: binary('bitwise_and'),
  LOGICAL_NOT: unary('logical_not'),
  LOGICAL_OR: binary('bitwise_or'),
  MAXIMUM: binary('maximum'),
  MINIMUM: binary('minimum'),
  MUL: fused('mul'),
  NEG: unary('neg'),
  NOT_EQUAL: not('equal'),
  POW: binary('pow'),
  ROUND: unary('round'),
  RSQRT: becomes('div sqrt', (node) => {
    const x = node.input(0);
    return node.call('div', [node.like(x, 1), node.call('sqrt', [x])]);
  }),
  SIGN: unary('sign'),
  SIN: unary('sin'),
  SQRT: unary('sqrt'),
  SQUARE: becomes('mul', (node) => node.call('mul', [node.input(0), node.input(0)])),
  SQUARED_DIFFERENCE: becomes('sub mul', squaredDifference),
  SUB: fused('sub'),
};
