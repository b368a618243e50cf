import { type Expression as Vector, local } from '../../wasm/expression.ts';
import { set, type Statement } from '../../wasm/statement.ts';
import * as f from '../formula/build.ts';
import type { Expression } from '../formula/expression.ts';
import { typedFormula } from '../formula/infer-types.ts';
import { lowerFormula } from '../formula/wasm/lower-formula.ts';
import type { ActivationCall, ActivationName } from './activations.ts';

const X = f.X;
const isNegative = f.less(X, 0);

const FORMULAS: Readonly<Record<ActivationName, (alpha: number, beta: number) => Expression>> = {
  Affine: (alpha, beta) => f.add(f.mul(X, alpha), beta),
  Elu: (alpha) => f.select(isNegative, f.mul(f.sub(f.intrinsic('exp', X), 1), alpha), X),
  HardSigmoid: (alpha, beta) => f.min(f.max(f.add(f.mul(X, alpha), beta), 0), 1),
  LeakyRelu: (alpha) => f.select(isNegative, f.mul(X, alpha), X),
  Relu: () => f.select(isNegative, 0, X),
  ScaledTanh: (alpha, beta) => f.mul(f.intrinsic('tanh', f.mul(X, beta)), alpha),
  Sigmoid: () => f.intrinsic('sigmoid', X),
  Softplus: () => f.add(f.max(X, 0), f.intrinsic('log1p', f.intrinsic('exp', f.neg(f.abs(X))))),
  Softsign: () => f.div(X, f.add(f.abs(X), 1)),
  Tanh: () => f.intrinsic('tanh', X),
  ThresholdedRelu: (alpha) => f.select(f.greaterEqual(X, alpha), X, 0),
};

const isKnown = (name: string): name is ActivationName => Object.hasOwn(FORMULAS, name);

function bound(value: Vector, statements: Statement[]): Vector {
  const target = local('v128');
  statements.push(set(target, value));
  return target;
}

/** An activation of four units, limited to a range before unless `clip` is 0. */
export function activate(
  { name, alpha, beta }: ActivationCall,
  clip: number,
  { x, statements }: { readonly x: Vector; readonly statements: Statement[] },
): Vector {
  if (!isKnown(name)) return x;
  const call = { attributes: {}, dtypes: ['float32'], output: 'float32' } as const;
  const lowered = (formula: Expression, operand: Vector): Vector =>
    lowerFormula(typedFormula(formula, call), {
      operands: [bound(operand, statements)],
      statements,
    });
  const limited = clip > 0 ? lowered(f.max(f.min(X, clip), -clip), x) : x;
  return lowered(FORMULAS[name](alpha, beta), limited);
}
