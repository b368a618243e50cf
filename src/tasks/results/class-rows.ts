import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import type { ValueInfo } from '../../worker/protocol/loaded-session.ts';
import { chooseOutput } from './choose-output.ts';
import { requireLabels } from './labels.ts';
import { numbersOf } from './numbers.ts';

const EXPECTED = 'one with numbers of float32 or float16 for classes, [N, classes]';

/** The dimension of the classes: behind that of pictures the only one that is not 1. */
function classesOf(shape: ValueInfo['shape']): number | string | undefined {
  const [, ...dims] = shape;
  const others = dims.filter((dim) => dim !== 1);
  return others.length > 1 || dims.length === 0 ? undefined : (others[0] ?? 1);
}

const isFloat = (dtype: string): boolean => /^float(16|32|64)$/.test(dtype);

/**
 * The output with a model's numbers for classes. Throws ShapeError where it is not certain which one that is, and UsageError for another number
 * of names.
 */
export function classOutput(
  outputs: readonly ValueInfo[],
  labels: readonly string[] | undefined,
  wanted: string | undefined,
): string {
  const fits = ({ dtype, shape }: ValueInfo): boolean =>
    isFloat(dtype) && classesOf(shape) !== undefined;
  const name = chooseOutput(outputs, { wanted, usual: ['logits'], fits, expected: EXPECTED });
  const found = outputs.find((output) => output.name === name);
  const count = found && classesOf(found.shape);
  if (typeof count === 'number') requireLabels(labels, count);
  return name;
}

/** The numbers of each of `count` pictures. Throws ShapeError for other dimensions. */
export function classRows(output: Tensor | undefined, count: number): Float64Array[] {
  const { dtype = 'nothing', shape = [] } = output ?? {};
  const classes = classesOf(shape);
  if (output === undefined || typeof classes !== 'number' || shape[0] !== count) {
    throw new ShapeError({
      where: 'the result of the model',
      got: `${dtype} [${shape.join(', ')}] for ${count} pictures`,
      expected: `[${count}, classes]`,
    });
  }
  const numbers = Float64Array.from(numbersOf(output));
  return Array.from({ length: count }, (_, i) => numbers.slice(i * classes, (i + 1) * classes));
}
