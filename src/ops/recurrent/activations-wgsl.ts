import { wgslLiteral } from '../lowering/wgsl-literal.ts';
import type { ActivationCall, ActivationName } from './activations.ts';

/** A WGSL expression of the f32 expressions x, alpha and beta. */
type Expression = (x: string, alpha: string, beta: string) => string;

// Implementations divide exponentials, which overflow from 88 on; beyond 10 the result is 1.
const tanh = (x: string): string => `select(tanh(${x}), sign(${x}), abs(${x}) > 10.0)`;

/** WGSL's functions may leave a NaN out. */
const guarded =
  (expression: Expression): Expression =>
  (x, alpha, beta) =>
    `select(${expression(x, alpha, beta)}, ${x}, (bitcast<u32>(${x}) & 0x7fffffffu) > 0x7f800000u)`;

const EXPRESSIONS: Readonly<Record<ActivationName, Expression>> = {
  Affine: (x, alpha, beta) => `${alpha} * ${x} + ${beta}`,
  Elu: (x, alpha) => `select(${x}, ${alpha} * (exp(min(${x}, 0.0)) - 1.0), ${x} < 0.0)`,
  HardSigmoid: guarded((x, alpha, beta) => `clamp(${alpha} * ${x} + ${beta}, 0.0, 1.0)`),
  LeakyRelu: (x, alpha) => `select(${x}, ${alpha} * ${x}, ${x} < 0.0)`,
  Relu: (x) => `select(${x}, 0.0, ${x} < 0.0)`,
  ScaledTanh: (x, alpha, beta) => `${alpha} * ${tanh(`(${beta} * ${x})`)}`,
  Sigmoid: guarded((x) => `1.0 / (1.0 + exp(min(-${x}, 88.0)))`),
  Softplus: guarded((x) => `max(${x}, 0.0) + log(1.0 + exp(-abs(${x})))`),
  Softsign: (x) => `${x} / (1.0 + abs(${x}))`,
  Tanh: tanh,
  ThresholdedRelu: (x, alpha) => `select(0.0, ${x}, ${x} >= ${alpha})`,
};

function expression({ name, alpha, beta }: ActivationCall): string {
  const literal = (value: number): string => wgslLiteral(value, 'float32', 1);
  return EXPRESSIONS[name as ActivationName]('x', literal(alpha), literal(beta));
}

/** `fn activate_K(direction: u32, x: f32) -> f32` for each K, from the activations of each direction. */
export function activationsWgsl(directions: readonly (readonly ActivationCall[])[]): string {
  const [forward = [], backward = []] = directions.map((calls) => calls.map(expression));
  return forward
    .map((first, k) => {
      const other = backward[k] ?? first;
      const branch = other === first ? '' : `  if (direction == 1u) { return ${other}; }\n`;
      return `fn activate_${k}(direction: u32, x: f32) -> f32 {\n${branch}  return ${first};\n}\n`;
    })
    .join('');
}
