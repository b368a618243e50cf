import { UsageError } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';
import { checkedPass } from './checked-pass.ts';
import type { Pass } from './passes/pass.ts';
import { isPassName, PASS_NAMES, type PassName } from './passes/pass-names.ts';

/**
 * A pass of the caller's and its place: before the first run of a pass of `compile`, or after the last. The
 * place is there in every compilation, also where options leave the pass out.
 */
export type InsertedPass =
  | { readonly pass: Pass; readonly before: PassName; readonly after?: undefined }
  | { readonly pass: Pass; readonly after: PassName; readonly before?: undefined };

/** One step of the pipeline: a place, and the pass that runs there, if any. */
export interface PipelineStep {
  readonly name: string;
  readonly pass?: Pass;
}

/** Passes for one place keep their order. Throws UsageError for a place or a name that cannot be. */
export function insertPasses(
  steps: readonly PipelineStep[],
  inserted: readonly InsertedPass[],
): readonly PipelineStep[] {
  const result = [...steps];
  const behind = new Map<PassName, number>();
  for (const { pass, before, after } of inserted) {
    requireOwnName(pass);
    const anchor = before ?? after;
    requirePassName(`pass ${pass.name}`, anchor);
    const step = { name: pass.name, pass: checkedPass(pass) };
    if (before !== undefined) {
      result.splice(
        result.findIndex(({ name }) => name === anchor),
        0,
        step,
      );
    } else {
      const offset = (behind.get(anchor) ?? 0) + 1;
      result.splice(result.findLastIndex(({ name }) => name === anchor) + offset, 0, step);
      behind.set(anchor, offset);
    }
  }
  return result;
}

/** Throws UsageError, with the nearest name, for what is no name of a pass of `compile`. */
function requirePassName(where: string, name: unknown): asserts name is PassName {
  if (typeof name === 'string' && isPassName(name)) return;
  throw new UsageError({
    where,
    got: typeof name === 'string' ? `the place ${JSON.stringify(name)}` : 'no place',
    expected: `before or after one of ${PASS_NAMES.join(', ')}`,
    remedy: typeof name === 'string' ? nearestName(name, PASS_NAMES) : undefined,
  });
}

function requireOwnName({ name }: Pass): void {
  if (typeof name === 'string' && name !== '' && !isPassName(name)) return;
  throw new UsageError({
    where: 'passes',
    got: `a pass named ${JSON.stringify(name)}`,
    expected: 'a name that no pass of compile has',
  });
}
