import { expect, test } from 'vitest';
import { Session, Tensor, type ValueInfo } from '../../client/index.ts';
import { modelAt, modelOfFiles } from './model-section.ts';
import { openModelTokenizer } from './model-tokenizer.ts';
import { BERT_TOKENIZER, bertModel } from './testing/bert-model.ts';
import { plainPart, rowOf, textInputsOf, type TextRow, textTensor } from './text-inputs.ts';

const opened = async (tokenizer: object = BERT_TOKENIZER, config?: object) => {
  const files: Readonly<Record<string, object | undefined>> = {
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': config,
  };
  const model = await openModelTokenizer(async (name) => {
    const content = files[name];
    return content && new TextEncoder().encode(JSON.stringify(content));
  });
  if (model === undefined) throw new Error('no tokenizer');
  return model;
};

const ids = (name: string, shape: ValueInfo['shape'], dtype: ValueInfo['dtype'] = 'int64') => ({
  name,
  dtype,
  shape,
});

/** The scores that a model gives a text. */
async function logitsOf(length: number | 'sequence', row: TextRow): Promise<number[]> {
  await using session = await Session.load(bertModel(length), { device: 'host', worker: false });
  const parts = textInputsOf(session.inputs)?.parts ?? new Map();
  const inputs = session.inputs.map((info) => {
    const part = parts.get(info.name);
    if (part === undefined) throw new Error(`${info.name} is no input of a text`);
    return [info.name, textTensor(info, [1, row.ids.length], row[part as keyof typeof PARTS])];
  });
  const { logits } = await session.run(Object.fromEntries(inputs));
  return logits instanceof Tensor ? Array.from(logits.data, Number) : [];
}
const PARTS = { ids: 0, mask: 0, types: 0, positions: 0 } as const;

test('a text gives a classifier the same scores, filled up or not', async () => {
  const tokenizer = await opened();
  const free = await logitsOf('sequence', await rowOf(tokenizer, 'The sun is bright', undefined));
  const filled = await logitsOf(10, await rowOf(tokenizer, 'The sun is bright', 10));
  expect(free).toHaveLength(3);
  for (const [i, score] of free.entries()) expect(filled[i]).toBeCloseTo(score, 5);
  const other = await logitsOf('sequence', await rowOf(tokenizer, 'The moon is dark', undefined));
  const best = (scores: number[]): number => scores.indexOf(Math.max(...scores));
  expect([best(free), best(other)]).toEqual([0, 1]);
});

test('rows are filled up and cut as tokenizer.json says', async () => {
  const model = await opened();
  expect(await rowOf(model, 'Sun, moon', 7)).toEqual({
    ids: [2, 5, 1, 6, 3, 0, 0],
    mask: [1, 1, 1, 1, 1, 0, 0],
    types: [0, 0, 0, 0, 0, 0, 0],
    positions: [0, 1, 2, 3, 4, 0, 0],
    tokenCount: 5,
    isCut: false,
  });
  expect(await rowOf(model, 'the sun is bright', 4)).toMatchObject({
    ids: [2, 4, 5, 3],
    tokenCount: 4,
    isCut: true,
  });
  // The most that the tokenizer itself says, where the model takes any number.
  expect((await rowOf(model, 'sun '.repeat(40), undefined)).ids).toHaveLength(12);
  const left = {
    ...BERT_TOKENIZER,
    padding: { ...BERT_TOKENIZER.padding, direction: 'Left', pad_id: 9, pad_type_id: 1 },
    truncation: { ...BERT_TOKENIZER.truncation, direction: 'Left' },
  };
  expect(await rowOf(await opened(left), 'moon', 5)).toMatchObject({
    ids: [9, 9, 2, 6, 3],
    mask: [0, 0, 1, 1, 1],
    types: [1, 1, 0, 0, 0],
  });
  expect((await rowOf(await opened(left), 'the sun is bright', 4)).ids).toEqual([2, 7, 8, 3]);
  await expect(rowOf({ ...model, mostTokens: 0 }, 'sun', undefined)).rejects.toThrow(
    'the text: got no token, expected words',
  );
});

test('what fills rows is named by tokenizer_config.json where tokenizer.json does not say it', async () => {
  const plain = { ...BERT_TOKENIZER, padding: null, truncation: null };
  expect((await rowOf(await opened(plain), 'sun', 4)).ids).toEqual([2, 5, 3, 0]);
  const config = { pad_token: { content: 'dark' }, padding_side: 'left', model_max_length: 4 };
  const model = await opened(plain, config);
  expect((await rowOf(model, 'sun', 4)).ids).toEqual([9, 2, 5, 3]);
  expect((await rowOf(model, 'the sun is bright', undefined)).ids).toEqual([2, 4, 5, 3]);
});

test('inputs of texts are known by names, types and shapes', () => {
  const found = textInputsOf([
    ids('input_ids:0', ['unk__1', 'unk__2'], 'int32'),
    ids('attention_mask:0', ['unk__3', 'unk__4'], 'int32'),
    ids('position_ids', ['unk__3', '(past + 1)']),
    ids('pixels', [1, 3, 8, 8], 'float32'),
  ]);
  expect([...(found?.parts ?? [])]).toEqual([
    ['input_ids:0', 'ids'],
    ['attention_mask:0', 'mask'],
  ]);
  expect([...(found?.dimensions ?? [])]).toEqual(['unk__2', 'unk__4']);
  expect(textInputsOf([ids('input_ids', [1, 128])])).toMatchObject({ length: 128 });
  // A step of a generator, a picture, and numbers that are no tokens.
  expect(textInputsOf([ids('input_ids', [1, 1])])).toBeUndefined();
  expect(textInputsOf([ids('input_ids', ['n'], 'float32')])).toBeUndefined();
  expect(textInputsOf([ids('indices', ['n'])])).toBeUndefined();
});

test('a row goes into each text of a batch, in the type of its input', () => {
  const mask = textTensor(ids('mask', ['n', 'k'], 'bool'), [2, 2], [1, 0]);
  expect([mask.dtype, ...mask.data]).toEqual(['bool', 1, 0, 1, 0]);
  const wide = textTensor(ids('ids', ['n', 'k']), [1, 2], [3, 4]);
  expect([wide.dtype, ...wide.data]).toEqual(['int64', 3n, 4n]);
  expect(plainPart('mask', 2)).toEqual([1, 1]);
  expect(plainPart('types', 2)).toEqual([0, 0]);
  expect(plainPart('positions', 3)).toEqual([0, 1, 2]);
});

test('files beside a model: dropped at once, and at addresses as transformers.js has them', async () => {
  const files = ['tokenizer.json', 'bert.onnx'].map((name) => new File([name], name));
  const model = modelOfFiles(files);
  expect(model?.name).toBe('bert.onnx');
  expect(new TextDecoder().decode(await model?.beside?.('tokenizer.json'))).toBe('tokenizer.json');
  expect(await model?.beside?.('config.json')).toBeUndefined();
  expect(modelOfFiles([])).toBeUndefined();
  expect(modelOfFiles(files.slice(0, 1))?.name).toBe('tokenizer.json');

  const asked: string[] = [];
  const fetched = globalThis.fetch;
  globalThis.fetch = async (input) => {
    asked.push(input instanceof Request ? input.url : String(input));
    return new Response(null, { status: 404 });
  };
  try {
    for (const path of ['a/onnx/model.onnx?download=true', 'a/model.weft']) {
      const { beside } = modelAt(new URL(path, 'https://models.example/'));
      expect(await beside?.('tokenizer.json')).toBeUndefined();
    }
  } finally {
    globalThis.fetch = fetched;
  }
  expect(asked).toEqual([
    'https://models.example/a/tokenizer.json',
    'https://models.example/a/tokenizer.json',
  ]);
});

test('a folder without tokenizer.json has no tokenizer; one that is no JSON is an error', async () => {
  expect(await openModelTokenizer(async () => undefined)).toBeUndefined();
  const broken = openModelTokenizer(async () => new TextEncoder().encode('<html>'));
  await expect(broken).rejects.toThrow(
    'tokenizer.json: got a page of HTML, or other markup, expected an object in JSON.',
  );
});
