import type { Draw } from '../draw.ts';
import type { BuiltModel } from '../model-builder.ts';
import type { Feeds, ModelCase } from '../node-case.ts';

export type ModelTable = Readonly<Record<string, (draw: Draw) => ModelCase>>;

interface Tolerance {
  readonly step?: number;
  readonly rtol?: number;
  readonly atol?: number;
}

/** A model with the data sets that one session runs in turn, at least one. */
export function modelCase(
  { bytes, outputs, text }: BuiltModel,
  [feeds = {}, ...moreFeeds]: readonly Feeds[],
  tolerance: Tolerance = {},
): ModelCase {
  const nodes = [{ op: 'model', opset: 0, inputs: [], ...tolerance }];
  return { bytes, feeds, moreFeeds, outputs, text, nodes };
}
