import { ShapeError } from '../../core/errors.ts';
import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { stringAttribute } from '../attributes.ts';
import type { Operands } from '../lowering/lowering.ts';
import { type ActivationCall, CELL_ACTIVATIONS } from './activations.ts';

/** The kinds of cells, in the order that shaders number them. */
interface CellShape {
  /** Products of each unit with inputs and states. */
  readonly gates: number;
  readonly activations: number;
  /** Tensors that go from one step to the next. */
  readonly states: number;
  /** Rows of the optional vectors. */
  readonly vectors: number;
}

export const CELLS = {
  rnn: { gates: 1, activations: 1, states: 1, vectors: 1 },
  gru: { gates: 3, activations: 2, states: 1, vectors: 1 },
  lstm: { gates: 4, activations: 3, states: 2, vectors: 3 },
} satisfies Readonly<Record<string, CellShape>>;

export type CellName = keyof typeof CELLS;

export const CELL_NAMES: readonly CellName[] = ['rnn', 'gru', 'lstm'];

export function cellOf(attributes: Attributes): CellName {
  const name = stringAttribute(attributes, 'cell');
  return CELL_NAMES.find((known) => known === name) ?? 'rnn';
}

export function directionCount(attributes: Attributes): number {
  return stringAttribute(attributes, 'direction') === 'bidirectional' ? 2 : 1;
}

export interface RecurrentSizes {
  readonly steps: number;
  readonly batch: number;
  readonly directions: number;
  readonly hidden: number;
}

export function sizesOf(
  inputs: Operands<Pick<ConcreteTensorType, 'shape'>>,
  attributes: Attributes,
): RecurrentSizes {
  const [steps = 0, batch = 0] = inputs[0]?.shape ?? [];
  const hidden = inputs[1]?.shape[1] ?? 0;
  return { steps, batch, directions: directionCount(attributes), hidden };
}

/** The activations of each direction. Throws ShapeError where there are too few, too many or unknown ones. */
export function activationsOf(attributes: Attributes): readonly (readonly ActivationCall[])[] {
  const [names, alphas, betas] = ['activations', 'alphas', 'betas'].map(
    (name): readonly unknown[] => {
      const value = attributes[name];
      return Array.isArray(value) ? value : [];
    },
  );
  const directions = directionCount(attributes);
  const { activations: perCell } = CELLS[cellOf(attributes)];
  const calls = (names ?? []).map(
    (name, i): ActivationCall => ({
      name: String(name),
      alpha: Number(alphas?.[i] ?? 0),
      beta: Number(betas?.[i] ?? 0),
    }),
  );
  const unknown = calls.find(({ name }) => !Object.hasOwn(CELL_ACTIVATIONS, name));
  const isWhole = [names, alphas, betas].every((list) => list?.length === directions * perCell);
  if (isWhole && unknown === undefined) {
    return Array.from({ length: directions }, (_, d) =>
      calls.slice(d * perCell, (d + 1) * perCell),
    );
  }
  throw new ShapeError({
    where: 'recurrent: attributes activations, alphas, betas',
    got: `${names?.length}, ${alphas?.length}, ${betas?.length} elements: ${calls.map(({ name }) => name).join(', ')}`,
    expected: `${directions * perCell} of each, of ${Object.keys(CELL_ACTIVATIONS).join(', ')}`,
  });
}
