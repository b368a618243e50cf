import { expect, test } from 'vitest';
import { printExecutable } from '../../../bytecode/text/print.ts';
import { compile } from '../../../compiler/compile.ts';
import { generationModule } from '../generation-module.ts';
import { loadFrom } from './testing/decode-runner.ts';
import { randomDecoder } from './testing/decoder-files.ts';
import { fromGguf } from './testing/expect-reference.ts';

const CONFIG = {
  vocab_size: 64,
  hidden_size: 32,
  intermediate_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 1024,
  tie_word_embeddings: true,
  sliding_window: 6,
};

test.each(['llama', 'gemma2', 'phi3'])('a step of %s copies no cache', async (type) => {
  const config = { ...CONFIG, model_type: type, query_pre_attn_scalar: 8 };
  const { file, bytes } = fromGguf(randomDecoder(config, 2));
  const program = printExecutable(compile(generationModule(await loadFrom(file, bytes))));
  const [, decode = ''] = /\nfunc decode([^]*?)\nfunc /.exec(program) ?? [];
  const writes = [...decode.matchAll(/call tensor_scatter\S*\((%\d+), .*?(%\d+)\)/g)];
  expect(writes).toHaveLength(2 * CONFIG.num_hidden_layers);
  // The destination of each is what it changes.
  for (const [write, cache, result] of writes) expect(result, write).toBe(cache);
});
