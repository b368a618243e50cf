import { ShapeError, UsageError } from '../../core/errors.ts';
import type { ValueInfo } from '../../worker/protocol/loaded-session.ts';

/** Which output of a model a task reads. */
interface OutputChoice {
  readonly wanted: string | undefined;
  /** Names that exporters give it, the surest first. */
  readonly usual: readonly string[];
  /** Returns true for an output that it can be at all. */
  readonly fits: (output: ValueInfo) => boolean;
  /** A description of it, for the error. */
  readonly expected: string;
}

/**
 * The output that a page names, one of a usual name, or the only one that fits. Throws UsageError for a name that the model does not have,
 * and ShapeError where none or several fit: a task does not guess.
 */
export function chooseOutput(
  outputs: readonly ValueInfo[],
  { wanted, usual, fits, expected }: OutputChoice,
): string {
  const named = outputs.map(({ name, dtype, shape }) => `${name}: ${dtype} [${shape.join(', ')}]`);
  if (wanted !== undefined) {
    if (outputs.some(({ name }) => name === wanted)) return wanted;
    const names = outputs.map(({ name }) => name).join(', ');
    throw new UsageError({ where: 'output', got: `"${wanted}"`, expected: `one of ${names}` });
  }
  const fitting = outputs.filter(fits);
  const found =
    usual.find((name) => fitting.some((output) => output.name === name)) ??
    (fitting.length === 1 ? fitting[0]?.name : undefined);
  if (found !== undefined) return found;
  throw new ShapeError({
    where: 'the model',
    got: `outputs ${named.join(', ')}`,
    expected,
    remedy:
      fitting.length > 1
        ? 'Name one of them with the option output.'
        : 'loadTaskModel runs models of other kinds.',
  });
}
