import { readFileSync } from 'node:fs';
import { decodeFloat16 } from '../../../../core/tensor/float16-arrays.ts';
import { readMessage } from '../../../onnx/protobuf/read-message.ts';
import { tensorFromProto } from '../../../onnx/protobuf/read-tensor.ts';
import type { TokenizerMetadata } from '../../files/testing/gguf-vocabularies.ts';
import { TOKEN_TYPES } from '../../files/tokenizer/gguf-vocabulary.ts';
import { decoderOf, type TestedDecoder } from './decoder-files.ts';
import type { TestedConfig } from './reference-decoder.ts';

const read = (name: string): Buffer =>
  readFileSync(new URL(`../../../../../public/models/stories/${name}`, import.meta.url));

/** `config.json` of the story model. */
export const STORY_CONFIG = JSON.parse(read('config.json').toString()) as TestedConfig;

/** The bytes of its ONNX file. */
export const storyOnnx = (): Uint8Array => read('onnx/model_fp16.onnx');

/** The story model, its weights under the names and in the layout of transformers. */
export function storyDecoder(typeOf: (name: string) => string = () => 'F16'): TestedDecoder {
  const { graph } = readMessage('ModelProto', storyOnnx());
  const initializers = new Map((graph?.initializer ?? []).map((proto) => [proto.name, proto]));
  const { num_hidden_layers: layers } = STORY_CONFIG;
  const onnxName = (name: string): string =>
    name === 'model.norm.weight'
      ? `model.layers.${layers}.final_norm_layernorm.weight`
      : name.replace('self_attn', 'attn').replace(/_proj\.weight$/, '_proj.MatMul.weight');
  const elements = (name: string, [rows = 1, columns = 1]: readonly number[]): Float32Array => {
    const proto = initializers.get(onnxName(name));
    if (proto === undefined) throw new Error(`no initializer ${onnxName(name)}`);
    const values = decodeFloat16(tensorFromProto(proto, name).data as Uint16Array);
    // ONNX multiplies by matrices [inputs, outputs].
    if (!name.includes('_proj')) return values;
    return values.map((_, i) => values[(i % columns) * rows + Math.floor(i / columns)] ?? 0);
  };
  return decoderOf(STORY_CONFIG, elements, typeOf);
}

interface StoryTokenizer {
  readonly added_tokens: readonly { readonly id: number }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (readonly [string, string])[];
  };
}

/** The tokenizer of the stories as GGUF has it. */
export function storyTokenizer(): TokenizerMetadata {
  const { added_tokens: added, model } = JSON.parse(
    read('tokenizer.json').toString(),
  ) as StoryTokenizer;
  const tokens = Object.entries(model.vocab).toSorted(([, a], [, b]) => a - b);
  const special = new Set(added.map(({ id }) => id));
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': tokens.map(([token]) => token),
    'tokenizer.ggml.token_type': Int32Array.from(tokens, ([, id]) =>
      special.has(id) ? TOKEN_TYPES.control : TOKEN_TYPES.normal,
    ),
    'tokenizer.ggml.merges': model.merges.map((pair) => pair.join(' ')),
    'tokenizer.ggml.bos_token_id': 0,
    'tokenizer.ggml.eos_token_id': 0,
    'tokenizer.ggml.add_bos_token': false,
  };
}
