import { Trainer } from '../trainer.ts';
import { firstWeights, type FirstWeightsOptions } from './first-weights.ts';
import { type StorySizes, weightShapes } from '../../../src/text/testing/story-sizes.ts';
import { storyTraining } from './story-network.ts';

/** The story model with first weights, to be trained on batches [rows, length]. */
export function openStoryTrainer(
  sizes: StorySizes,
  options: FirstWeightsOptions & { rows: number; length: number; threads: number },
): Promise<Trainer> {
  const weights = firstWeights(sizes, options);
  return Trainer.open(storyTraining(sizes, options), weightShapes(sizes), {
    threads: options.threads,
    initial: (values, name) => values.set(weights.get(name) ?? []),
  });
}
