import { seededRandom } from '../../../src/core/random.ts';
import { Trainer } from '../trainer.ts';
import { headWidth, type StorySizes, storyTraining, weightShapes } from './story-network.ts';

/** The story model with first weights, to be trained on batches [rows, length]. */
export function openStoryTrainer(
  sizes: StorySizes,
  options: { rows: number; length: number; seed: number; threads: number },
): Promise<Trainer> {
  const weights = initialWeights(sizes, options.seed);
  return Trainer.open(storyTraining(sizes, options), weightShapes(sizes), {
    threads: options.threads,
    initial: (values, name) => values.set(weights.get(name) ?? []),
  });
}

const DEVIATION = { embedding: 0.08, matrix: 0.04 };
/** How much queries begin as keys: their products then find equal content. */
const ALIKE = 0.7;
/** The size of outputs beside that of values. */
const OUTPUT = 0.5;

/**
 * Even numbers around 0; norms begin with 1, and weights that add to the residual smaller by the number of such
 * sums. From the second layer on queries begin like keys, and in all layers the output like the transpose of
 * the values, so that attention begins by finding what is alike and copying it (Trockman and Kolter 2023,
 * Mimetic Initialization of Self-Attention Layers). From random weights the answers to questions come much later.
 */
function initialWeights(sizes: StorySizes, seed: number): Map<string, Float32Array> {
  const random = seededRandom(seed);
  const weights = new Map<string, Float32Array>();
  for (const [name, shape] of weightShapes(sizes)) {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    const bound = Math.sqrt(3) * (name === 'embedding' ? DEVIATION.embedding : DEVIATION.matrix);
    const scale = name.endsWith('.down') ? 1 / Math.sqrt(2 * sizes.layers) : 1;
    if (name.endsWith('norm')) values.fill(1);
    else for (let i = 0; i < values.length; i++) values[i] = scale * bound * (2 * random() - 1);
    weights.set(name, values);
  }
  for (let layer = 0; layer < sizes.layers; layer++) mimicAttention(sizes, { weights, layer });
  return weights;
}

function mimicAttention(
  sizes: StorySizes,
  {
    weights,
    layer,
  }: { readonly weights: ReadonlyMap<string, Float32Array>; readonly layer: number },
): void {
  const { width, heads, keyHeads } = sizes;
  const head = headWidth(sizes);
  const keys = keyHeads * head;
  const of = (name: string): Float32Array => weights.get(`l${layer}.${name}`) ?? new Float32Array();
  const [query, key, value, output] = [of('query'), of('key'), of('value'), of('output')];
  for (let row = 0; row < width; row++) {
    for (let column = 0; column < width; column++) {
      const group = Math.floor((Math.floor(column / head) * keyHeads) / heads);
      const shared = row * keys + group * head + (column % head);
      const own = row * width + column;
      if (layer > 0) {
        query[own] = ALIKE * (key[shared] ?? 0) + Math.sqrt(1 - ALIKE ** 2) * (query[own] ?? 0);
      }
      output[column * width + row] = OUTPUT * (value[shared] ?? 0);
    }
  }
}
