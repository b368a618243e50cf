import { Tensor } from '../../../../src/client/values/tensor.ts';
import { seededRandom } from '../../../../src/core/random.ts';
import { elementCount } from '../../../../src/core/tensor/shape.ts';
import { readSavedText, writeSavedText } from '../../../../src/text/saved-text.ts';
import type { TextModel } from '../../../../src/text/text-model.ts';

/**
 * A model's caches filled for a text that nobody has read to it: what keys and values are makes no difference to how long
 * anything takes, and a processor takes minutes to read thousands of tokens. Leaves a token behind it generated, so that the caches have
 * grown.
 */
export async function fillCaches(model: TextModel, prompt: readonly number[]): Promise<void> {
  const short = model.generate(prompt.slice(0, 4), { temperature: 0, maxTokens: 2 });
  for await (const _ of short.tokens()) break;
  const saved = readSavedText(await short.save());
  const random = seededRandom(3);
  const length = prompt.length - 1;
  const caches = Object.entries(saved.caches).map(([name, { shape }]) => {
    const [rows = 1, heads = 1, , width = 1] = shape;
    const filled = [rows, heads, length, width];
    const values = Float32Array.from({ length: elementCount(filled) }, () => random() - 0.5);
    return [name, new Tensor('float32', values, filled)] as const;
  });
  const options = { ...saved.options, maxTokens: 1 };
  const bytes = writeSavedText({
    ...saved,
    prompt,
    generated: [],
    options,
    length,
    caches: Object.fromEntries(caches),
  });
  const text = await model.resume(bytes);
  for await (const _ of text.tokens());
}
