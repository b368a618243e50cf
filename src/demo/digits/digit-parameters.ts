import { type Profile, type Session, Tensor } from '../../client/index.ts';

/** Digits in one step of the training. */
export const TRAINING_BATCH = 128;

/** Shapes of the network's parameters, by name. */
export const PARAMETER_SHAPES: Readonly<Record<string, readonly number[]>> = {
  conv1: [16, 1, 5, 5],
  bias1: [16],
  conv2: [32, 16, 5, 5],
  bias2: [32],
  dense: [512, 10],
  bias3: [10],
};

/** Uniform numbers as He et al. 2015 scale them for layers with relu; biases are 0. */
export function randomParameters(random: () => number): Record<string, Tensor> {
  const entries = Object.entries(PARAMETER_SHAPES).map(([name, shape]) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const bound = shape.length === 1 ? 0 : Math.sqrt(6 / inputsOf(shape));
    const values = Float32Array.from({ length: count }, () => bound * (2 * random() - 1));
    return [name, new Tensor('float32', values, [...shape])];
  });
  return Object.fromEntries(entries);
}

/** How many numbers a result is a sum of: (K, C, R, S) of a convolution, (in, out) of a product. */
function inputsOf(shape: readonly number[]): number {
  const [first = 1, ...others] = shape;
  return others.length === 1 ? first : others.reduce((product, size) => product * size, 1);
}

/** A network that reads digits: the one that comes with the page, or the one trained in it. */
export interface DigitReader {
  readonly session: Session;
  /** The executable's name. */
  readonly title: string;
  /** Probabilities [10] of an image [1, 1, 28, 28]. */
  read(image: Tensor): Promise<Float32Array>;
  /** Does the same as `read`, and tells what each kernel took. */
  profile(image: Tensor): Promise<Profile>;
}
