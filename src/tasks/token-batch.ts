import type { Session } from '../client/session.ts';
import { Tensor } from '../client/values/tensor.ts';
import { ShapeError } from '../core/errors.ts';

/**
 * Inputs of a model of tokens, by the names that exporters give them: an element for each token.
 * Rows are filled up with 0.
 */
const INPUTS: Readonly<Record<string, (ids: readonly number[]) => readonly number[]>> = {
  input_ids: (ids) => ids,
  attention_mask: (ids) => ids.map(() => 1),
  token_type_ids: (ids) => ids.map(() => 0),
  position_ids: (ids) => ids.map((_, at) => at),
};

/** Inputs of a run. */
export interface TokenBatch {
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** The tokens of a row, with what fills it up. */
  readonly width: number;
}

/** Throws ShapeError for a model that takes something else. */
export function requireTokenInputs({ inputs }: Pick<Session, 'inputs'>): void {
  const other = inputs.find(
    ({ name, dtype }) => !Object.hasOwn(INPUTS, name) || !(dtype in ARRAYS),
  );
  const isOfTokens = inputs.some(({ name }) => name === 'input_ids');
  if (other === undefined && isOfTokens) return;
  throw new ShapeError({
    where: 'the model',
    got: other
      ? `an input ${other.name}: ${other.dtype} [${other.shape.join(', ')}]`
      : `inputs ${inputs.map(({ name }) => name).join(', ') || 'none'}`,
    expected: `input_ids, and perhaps ${Object.keys(INPUTS).slice(1).join(', ')}, of int64, int32 or float32`,
    remedy: 'loadTaskModel runs models of other kinds.',
  });
}

/** How many tokens a row of a model has at most, where that is fixed. */
export function fixedWidth({ inputs }: Pick<Session, 'inputs'>): number | undefined {
  const width = inputs.find(({ name }) => name === 'input_ids')?.shape[1];
  return typeof width === 'number' ? width : undefined;
}

const ARRAYS = {
  int64: (values: readonly number[]) => BigInt64Array.from(values, BigInt),
  int32: (values: readonly number[]) => Int32Array.from(values),
  float32: (values: readonly number[]) => Float32Array.from(values),
};

/** Rows of tokens as a model takes them, the shorter ones filled up. */
export function tokenBatch(
  session: Pick<Session, 'inputs'>,
  rows: readonly (readonly number[])[],
): TokenBatch {
  const width = fixedWidth(session) ?? Math.max(...rows.map(({ length }) => length));
  const inputs = session.inputs.map(({ name, dtype }) => {
    const numbers = rows.flatMap((ids) => {
      const own = INPUTS[name]?.(ids) ?? [];
      return [...own, ...Array.from({ length: width - own.length }, () => 0)];
    });
    const kind = dtype as keyof typeof ARRAYS;
    return [name, new Tensor(kind, ARRAYS[kind](numbers), [rows.length, width])] as const;
  });
  return { inputs: Object.fromEntries(inputs), width };
}
