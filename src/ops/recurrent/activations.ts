/** A function of one number that a recurrent cell applies: its parameters where it has some, with their defaults. */
interface CellActivation {
  readonly alpha?: number;
  readonly beta?: number;
}

/** Activations by the names that ONNX gives them. */
const ACTIVATIONS = {
  Affine: { alpha: 1, beta: 0 },
  Elu: { alpha: 1 },
  HardSigmoid: { alpha: 0.2, beta: 0.5 },
  LeakyRelu: { alpha: 0.01 },
  Relu: {},
  ScaledTanh: { alpha: 1, beta: 1 },
  Sigmoid: {},
  Softplus: {},
  Softsign: {},
  Tanh: {},
  ThresholdedRelu: { alpha: 1 },
} satisfies Readonly<Record<string, CellActivation>>;

export type ActivationName = keyof typeof ACTIVATIONS;

export const CELL_ACTIVATIONS: Readonly<Record<string, CellActivation>> = ACTIVATIONS;

/** An activation with its parameters. */
export interface ActivationCall {
  readonly name: string;
  readonly alpha: number;
  readonly beta: number;
}
