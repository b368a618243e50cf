import type { Graph } from './graph.ts';
import { GraphDraft } from './graph-draft.ts';
import { proposeFromCase } from './propose-from-case.ts';
import { proposeOnPool } from './propose-on-pool.ts';

/** Which operators a graph may have; all where there is no filter. */
interface RandomGraphOptions {
  readonly seed: number;
  readonly filter?: RegExp | undefined;
}

/**
 * A well-typed graph of 10 to 40 calls, the same for the same seed. Values are computed as it grows:
 * a call whose result is not finite, is ill-conditioned or would be refused is not taken.
 */
export function randomGraph({ seed, filter }: RandomGraphOptions): Graph {
  const draft = new GraphDraft(seed);
  const target = 10 + draft.below(31);
  for (let attempt = 0; draft.callCount < target && attempt < 12 * target; attempt++) {
    const before = draft.mark();
    const propose = draft.below(5) < 2 ? proposeFromCase : proposeOnPool;
    const added = propose(draft, filter);
    if (added === undefined) draft.reset(before);
  }
  return draft.finish();
}
