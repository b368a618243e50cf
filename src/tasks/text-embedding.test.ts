import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
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

describe('models of other exporters', () => {
  interface Parts {
    readonly inputs?: readonly string[];
    readonly dtype?: 'int64' | 'int32';
    readonly shape?: readonly (number | string)[];
    /** Operators that compute the outputs from `states` (N, tokens, 2). */
    readonly outputs?: readonly { readonly op: string; readonly name: string }[];
  }

  /** States by ids; what else comes in is multiplied by 0 and added. */
  function modelOf({
    inputs = ['input_ids', 'attention_mask', 'token_type_ids'],
    dtype = 'int64',
    shape = ['batch', 'tokens'],
    outputs = [{ op: 'Identity', name: 'last_hidden_state' }],
  }: Parts): Uint8Array {
    const others = inputs.filter((name) => name !== 'input_ids');
    const last = others.reduce((before, name) => `${before}+${name}`, 'states');
    let before = 'states';
    const added = others.flatMap((name) => {
      const sum = `${before}+${name}`;
      const nodes = [
        { op: 'Cast', inputs: [name], outputs: [`${name}.f`], attributes: { to: 1 } },
        { op: 'Mul', inputs: [`${name}.f`, 'zero'], outputs: [`${name}.0`] },
        { op: 'Unsqueeze', inputs: [`${name}.0`, 'last'], outputs: [`${name}.wide`] },
        { op: 'Add', inputs: [before, `${name}.wide`], outputs: [sum] },
      ];
      before = sum;
      return nodes;
    });
    return writeOnnxModel({
      nodes: [
        { op: 'Gather', inputs: ['rows', 'input_ids'], outputs: ['states'] },
        ...added,
        ...outputs.map(({ op, name }) =>
          op === 'ReduceMax'
            ? {
                op,
                inputs: [last],
                outputs: [name],
                attributes: { axes: [1], keepdims: 0 },
              }
            : { op, inputs: [last], outputs: [name] },
        ),
      ],
      opset: 13,
      inputs: inputs.map((name) => ({ name, dtype, shape })),
      outputs: outputs.map(({ name }) => name),
      initializers: {
        rows: HostTensor.from('float32', [4, 2], ROWS.flat()),
        last: HostTensor.from('int64', [1], [2n]),
        zero: HostTensor.from('float32', [], [0]),
      },
    });
  }

  const load = (parts: Parts, options: TextEmbeddingOptions = {}) =>
    textEmbedding(
      async (name) => {
        if (name === 'model.onnx') return modelOf(parts);
        const content = FILES[name];
        return content === undefined
          ? undefined
          : new TextEncoder().encode(JSON.stringify(content));
      },
      { device: 'host', normalize: false, ...options },
    );

  test.each<[string, Parts]>([
    ['ids of int32', { dtype: 'int32' }],
    ['no token types', { inputs: ['input_ids', 'attention_mask'] }],
    ['no mask', { inputs: ['input_ids'] }],
    ['positions', { inputs: ['input_ids', 'attention_mask', 'position_ids'] }],
    ['one text at a time', { shape: [1, 'tokens'] }],
    ['four texts of three tokens', { shape: [4, 3] }],
    ['a state of an odd name', { outputs: [{ op: 'Identity', name: '1234' }] }],
    [
      'a pooler beside it',
      {
        outputs: [
          { op: 'ReduceMax', name: 'pooler_output' },
          { op: 'Identity', name: 'last_hidden_state' },
        ],
      },
    ],
  ])('%s', async (_, parts) => {
    await using embedding = await load(parts);
    const [sun, moon] = await embedding.embed(['sun', 'sun moon']);
    expect(Array.from(sun ?? [])).toEqual([2, 0.5]);
    expect(Array.from(moon ?? [], (value) => Math.fround(value))).toEqual(
      [4 / 3, 5 / 3].map(Math.fround),
    );
  });

  test('a vector of its own', async () => {
    const outputs = [
      { op: 'Identity', name: 'token_embeddings' },
      { op: 'ReduceMax', name: 'sentence_embedding' },
    ];
    await using embedding = await load({ outputs });
    expect((await embedding.embed(['sun moon'])).map((vector) => Array.from(vector))).toEqual([
      [3, 4],
    ]);
  });

  test('what is not certain is refused', async () => {
    const two = [
      { op: 'ReduceMax', name: 'a' },
      { op: 'Identity', name: 'b' },
    ];
    await expect(load({ outputs: two })).rejects.toThrow(
      'expected last_hidden_state [N, tokens, size], or a vector of its own [N, size]. Name one of them with the option output.',
    );
    await using embedding = await load({ outputs: two }, { output: 'b' });
    expect(Array.from((await embedding.embed(['sun']))[0] ?? [])).toEqual([2, 0.5]);
    await expect(load({ outputs: [{ op: 'Identity', name: 'logits' }] })).rejects.toThrow(
      'the model: got outputs logits: float32 [batch, tokens, 2], expected last_hidden_state',
    );
    await expect(load({ inputs: ['input_ids', 'pixel_values'] })).rejects.toThrow(
      'the model: got an input pixel_values: int64 [batch, tokens], expected input_ids, and perhaps attention_mask, token_type_ids, position_ids, of int64, int32 or float32.',
    );
  });
});
