import { expect, test } from 'vitest';
import { HostTensor } from '../core/host-tensor.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { textEmbedding, type TextEmbeddingOptions } from './index.ts';

/** The states of a token, by its id. */
const ROWS = [
  [0, 0],
  [3, 0],
  [0, 4],
  [1, 1],
];

const MODEL = writeOnnxModel({
  nodes: [
    { op: 'Gather', inputs: ['rows', 'input_ids'], outputs: ['states'] },
    { op: 'Cast', inputs: ['attention_mask'], outputs: ['mask'], attributes: { to: 1 } },
    { op: 'Unsqueeze', inputs: ['mask', 'last'], outputs: ['wide'] },
    { op: 'Add', inputs: ['wide', 'states'], outputs: ['lifted'] },
    { op: 'Sub', inputs: ['lifted', 'wide'], outputs: ['last_hidden_state'] },
  ],
  opset: 13,
  inputs: ['input_ids', 'attention_mask'].map((name) => ({
    name,
    dtype: 'int64' as const,
    shape: ['batch', 'tokens'],
  })),
  outputs: ['last_hidden_state'],
  initializers: {
    rows: HostTensor.from('float32', [4, 2], ROWS.flat()),
    last: HostTensor.from('int64', [1], [2n]),
  },
});

/** Words are tokens; [CLS] is before them. */
const TOKENIZER = {
  version: '1.0',
  added_tokens: [{ id: 3, content: '[CLS]', special: true }],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '[CLS]', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [],
    special_tokens: { '[CLS]': { id: '[CLS]', ids: [3], tokens: ['[CLS]'] } },
  },
  decoder: null,
  model: {
    type: 'WordLevel',
    vocab: { unk: 0, sun: 1, moon: 2, '[CLS]': 3 },
    unk_token: 'unk',
  },
};

const FILES: Readonly<Record<string, unknown>> = {
  'config.json': { max_position_embeddings: 4 },
  'tokenizer.json': TOKENIZER,
  'tokenizer_config.json': {},
};

const open = (options: TextEmbeddingOptions = {}, files = FILES) =>
  textEmbedding(
    async (name) => {
      if (name === 'model.onnx') return MODEL;
      const content = files[name];
      return content === undefined ? undefined : new TextEncoder().encode(JSON.stringify(content));
    },
    { device: 'host', ...options },
  );

const vectors = async (options: TextEmbeddingOptions, files = FILES): Promise<number[][]> => {
  await using model = await open(options, files);
  // The shorter one is filled up.
  const found = await model.embed(['sun', 'sun moon moon']);
  return found.map((vector) => Array.from(vector));
};

test('means are those of a text’s own tokens', async () => {
  expect(await vectors({ normalize: false })).toEqual([
    [2, 0.5],
    [1, 2.25],
  ]);
});

test('of the first token, and of the last one of each text', async () => {
  const root = Math.fround(Math.SQRT1_2);
  expect(await vectors({ pooling: 'cls' })).toEqual([
    [root, root],
    [root, root],
  ]);
  expect(await vectors({ pooling: 'last' })).toEqual([
    [1, 0],
    [0, 1],
  ]);
  const said = { ...FILES, '1_Pooling/config.json': { pooling_mode_cls_token: true } };
  expect(await vectors({}, said)).toEqual([
    [root, root],
    [root, root],
  ]);
});

test('what is too long is cut off at its end', async () => {
  expect(await vectors({ normalize: false, mostTokens: 2 })).toEqual([
    [2, 0.5],
    [2, 0.5],
  ]);
});

test('no text, no tokenizer, an unknown option', async () => {
  await using model = await open();
  await expect(model.embed([])).rejects.toThrow('embed: got no text, expected one or more.');
  await expect(open({}, {})).rejects.toThrow(
    /^tokenizer(_config)?\.json: got no such file, expected it beside the model\.$/,
  );
  await expect(open({ pool: 'cls' } as TextEmbeddingOptions)).rejects.toThrow(
    'got an unknown option "pool"',
  );
});
