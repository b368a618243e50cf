import { requireKind } from '../core/check-options.ts';
import type { Session } from '../client/session.ts';

/** Things for one run of a model. */
interface Batch<Thing> {
  /** As many as the model takes: the last one fills up what is missing. */
  readonly things: readonly Thing[];
  /** How many of them are asked for. */
  readonly count: number;
}

/** Things by runs: one for all, unless an input of the model has a fixed number of them. */
export function batchesFor<Thing>(
  { inputs }: Pick<Session, 'inputs'>,
  input: string,
  all: readonly Thing[],
): Batch<Thing>[] {
  requireKind('pictures', 'list', ['what is', all]);
  const size = inputs.find(({ name }) => name === input)?.shape[0];
  const last = all.at(-1);
  if (typeof size !== 'number' || size < 1 || last === undefined) {
    return [{ things: all, count: all.length }];
  }
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => {
    const own = all.slice(i * size, (i + 1) * size);
    const missing = Array.from({ length: size - own.length }, () => last);
    return { things: [...own, ...missing], count: own.length };
  });
}
