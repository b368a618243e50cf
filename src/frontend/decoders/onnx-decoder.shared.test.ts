import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { textModule } from './text-module.ts';

test('a model whose caches have other names says which inputs it has, and which it needs', () => {
  const path = new URL('../../../../shared/models/gpt2-past-tiny/model.onnx', import.meta.url);
  expect(() => textModule(readFileSync(path))).toThrow(
    /^language model: got inputs input_ids, past_0, .*past_11, expected input_ids, attention_mask, perhaps position_ids, and past_key_values\.N\.key and \.value\. Export the model for text generation with a cache/,
  );
});
