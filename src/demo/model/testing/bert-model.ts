import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';

const SIZE = 8;
const MOST_TOKENS = 16;
const WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'the', 'sun', 'moon', 'is', 'bright', 'dark'];

/** A tokenizer of words, as BERT's files have them. */
export const BERT_TOKENIZER = {
  version: '1.0',
  truncation: { direction: 'Right', max_length: 12, strategy: 'LongestFirst', stride: 0 },
  padding: { strategy: 'BatchLongest', direction: 'Right', pad_id: 0, pad_type_id: 0 },
  added_tokens: WORDS.slice(0, 4).map((content, id) => ({ id, content, special: true })),
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: ['[CLS]', 'A', '[SEP]'].map((id) =>
      id === 'A' ? { Sequence: { id, type_id: 0 } } : { SpecialToken: { id, type_id: 0 } },
    ),
    pair: [],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
    },
  },
  decoder: null,
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])),
  },
};

/** `config.json` of a classifier. */
export const BERT_CONFIG = { id2label: { 0: 'day', 1: 'night', 2: 'neither' } };

/**
 * A classifier of texts with one layer of attention, of seeded weights: the names and types of inputs and outputs are those
 * of BERT's exports. With `length` it takes so many tokens, else any number.
 */
export function bertModel(length: number | 'sequence' = 'sequence'): Uint8Array {
  const random = seededRandom(18);
  const weights = (...shape: number[]): HostTensor => {
    const count = shape.reduce((product, size) => product * size, 1);
    return HostTensor.from(
      'float32',
      shape,
      Array.from({ length: count }, () => 2 * random() - 1),
    );
  };
  const node = (op: string, inputs: string[], output: string): OnnxNodeSpec => ({
    op,
    inputs,
    outputs: [output],
  });
  return writeOnnxModel({
    opset: 17,
    nodes: [
      node('Gather', ['words', 'input_ids'], 'word'),
      node('Gather', ['kinds', 'token_type_ids'], 'kind'),
      node('Shape', ['input_ids'], 'sizes'),
      node('Gather', ['sizes', 'one'], 'length'),
      node('Range', ['zero', 'length', 'one'], 'places'),
      node('Gather', ['positions', 'places'], 'position'),
      node('Add', ['word', 'kind'], 'typed'),
      node('Add', ['typed', 'position'], 'embedded'),
      node('LayerNormalization', ['embedded', 'scale'], 'states'),
      node('Cast', ['attention_mask'], 'mask'),
      node('Sub', ['mask', 'unit'], 'absent'),
      node('Mul', ['absent', 'far'], 'penalty'),
      node('Unsqueeze', ['penalty', 'middle'], 'bias'),
      ...['query', 'key', 'value'].map((name) =>
        node('MatMul', ['states', `${name}.weight`], name),
      ),
      node('Transpose', ['key'], 'keys'),
      node('MatMul', ['query', 'keys'], 'scores'),
      node('Add', ['scores', 'bias'], 'masked'),
      node('Softmax', ['masked'], 'shares'),
      node('MatMul', ['shares', 'value'], 'mixed'),
      node('Add', ['states', 'mixed'], 'last_hidden_state'),
      node('Gather', ['last_hidden_state', 'zero'], 'pooler_output'),
      node('MatMul', ['pooler_output', 'classes'], 'logits'),
    ].map((spec) => ({ ...spec, ...ATTRIBUTES[spec.outputs[0] ?? ''] })),
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => ({
      name,
      dtype: 'int64' as const,
      shape: ['batch', length],
    })),
    outputs: ['logits', 'pooler_output'],
    initializers: {
      words: weights(WORDS.length, SIZE),
      kinds: weights(2, SIZE),
      positions: weights(MOST_TOKENS, SIZE),
      scale: HostTensor.from(
        'float32',
        [SIZE],
        Array.from({ length: SIZE }, () => 1),
      ),
      'query.weight': weights(SIZE, SIZE),
      'key.weight': weights(SIZE, SIZE),
      'value.weight': weights(SIZE, SIZE),
      classes: weights(SIZE, Object.keys(BERT_CONFIG.id2label).length),
      unit: HostTensor.from('float32', [], [1]),
      far: HostTensor.from('float32', [], [10_000]),
      zero: HostTensor.from('int64', [], [0n]),
      one: HostTensor.from('int64', [], [1n]),
      middle: HostTensor.from('int64', [1], [1n]),
    },
  });
}

/** Attributes of the nodes that need some, by their output. */
const ATTRIBUTES: Readonly<Record<string, Pick<OnnxNodeSpec, 'attributes'>>> = {
  states: { attributes: { axis: -1 } },
  mask: { attributes: { to: 1 } },
  keys: { attributes: { perm: [0, 2, 1] } },
  shares: { attributes: { axis: -1 } },
  pooler_output: { attributes: { axis: 1 } },
};
