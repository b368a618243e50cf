import { wgslLiteral } from '../wgsl-literal.ts';

/** A function of one number that a recurrent cell applies, by the name that ONNX gives it. */
export interface CellActivation {
  readonly alpha?: number;
  readonly beta?: number;
  /** A WGSL expression of the f32 expressions x, alpha and beta. */
  wgsl(x: string, alpha: string, beta: string): string;
}

// Implementations divide exponentials, which overflow from 88 on; beyond 10 the result is 1.
const tanh = (x: string): string => `select(tanh(${x}), sign(${x}), abs(${x}) > 10.0)`;

/** With the defaults of alpha and beta, where there are such. */
const ACTIVATIONS = {
  Affine: {
    alpha: 1,
    beta: 0,
    wgsl: (x, alpha, beta) => `${alpha} * ${x} + ${beta}`,
  },
  Elu: {
    alpha: 1,
    wgsl: (x, alpha) => `select(${x}, ${alpha} * (exp(min(${x}, 0.0)) - 1.0), ${x} < 0.0)`,
  },
  HardSigmoid: {
    alpha: 0.2,
    beta: 0.5,
    wgsl: (x, alpha, beta) => `clamp(${alpha} * ${x} + ${beta}, 0.0, 1.0)`,
  },
  LeakyRelu: {
    alpha: 0.01,
    wgsl: (x, alpha) => `select(${x}, ${alpha} * ${x}, ${x} < 0.0)`,
  },
  Relu: {
    wgsl: (x) => `select(${x}, 0.0, ${x} < 0.0)`,
  },
  ScaledTanh: {
    alpha: 1,
    beta: 1,
    wgsl: (x, alpha, beta) => `${alpha} * ${tanh(`(${beta} * ${x})`)}`,
  },
  Sigmoid: {
    wgsl: (x) => `1.0 / (1.0 + exp(min(-${x}, 88.0)))`,
  },
  Softplus: {
    wgsl: (x) => `max(${x}, 0.0) + log(1.0 + exp(-abs(${x})))`,
  },
  Softsign: {
    wgsl: (x) => `${x} / (1.0 + abs(${x}))`,
  },
  Tanh: { wgsl: tanh },
  ThresholdedRelu: {
    alpha: 1,
    wgsl: (x, alpha) => `select(0.0, ${x}, ${x} >= ${alpha})`,
  },
} satisfies Readonly<Record<string, CellActivation>>;

export type ActivationName = keyof typeof ACTIVATIONS;

export const CELL_ACTIVATIONS: Readonly<Record<string, CellActivation>> = ACTIVATIONS;

/** An activation with its parameters. */
export interface ActivationCall {
  readonly name: string;
  readonly alpha: number;
  readonly beta: number;
}

function expression({ name, alpha, beta }: ActivationCall): string {
  const literal = (value: number): string => wgslLiteral(value, 'float32', 1);
  return CELL_ACTIVATIONS[name]?.wgsl('x', literal(alpha), literal(beta)) ?? 'x';
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
