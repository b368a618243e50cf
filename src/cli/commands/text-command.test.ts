import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ggufContents,
  ggufOf,
  randomDecoder,
  safetensorsOf,
} from '../../frontend/decoders/architectures/testing/decoder-files.ts';
import { referenceLogits } from '../../frontend/decoders/architectures/testing/reference-decoder.ts';
import { gemmaVocabulary } from '../../frontend/decoders/files/testing/gguf-vocabularies.ts';
import { splitGguf } from '../../frontend/decoders/files/testing/split-gguf.ts';
import { type Generation, TextModel } from '../../text/index.ts';
import { storyFolder } from '../../text/testing/story-file.ts';
import { type CommandResult, testCommand } from '../testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const weft = (...args: string[]): Promise<CommandResult> => testCommand(folder, args);

const CONFIG = {
  model_type: 'qwen3',
  vocab_size: 512,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 2 ** -17,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: false,
};
const decoder = randomDecoder(CONFIG, 5);
const PROMPT = [3, 14, 159, 26];
const GREEDY = { temperature: 0, maxTokens: 12 };

/** The likeliest tokens, by plain loops over the published architecture. */
function greedyTokens(count: number): number[] {
  const tokens = [...PROMPT];
  for (let i = 0; i < count; i++) {
    const logits = referenceLogits(decoder.config, decoder.weights, tokens).at(-1) ?? [];
    tokens.push([...logits].indexOf(Math.max(...logits)));
  }
  return tokens.slice(PROMPT.length);
}

async function generated(file: string): Promise<number[]> {
  const read = storyFolder({ 'model.weft': await readFile(at(file)) });
  const model = await TextModel.load(read, { device: 'wasm', worker: false });
  const ids = await generatedIds(model.generate(PROMPT, GREEDY));
  await model.dispose();
  return ids;
}

async function generatedIds(generation: Generation): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  return ids;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-text-'));
  await writeFile(at('model.gguf'), ggufOf(decoder));
  await writeFile(at('model.safetensors'), safetensorsOf(decoder));
  await writeFile(at('config.json'), JSON.stringify(decoder.config));
});
afterAll(() => rm(folder, { recursive: true }));

test('a GGUF file and a folder of safetensors generate what the architecture says', async () => {
  const expected = greedyTokens(12);
  for (const name of ['model.gguf', 'model.safetensors']) {
    const { status, out } = await weft('text', at(name), '-o', at(`${name}.weft`));
    expect(status).toBe(0);
    expect(out).toContain('of weights');
    expect(await generated(`${name}.weft`), name).toEqual(expected);
  }
});

test('the first of several GGUF files stands for all', async () => {
  const parts = splitGguf(ggufContents(decoder), { prefix: 'parts', count: 3 });
  for (const [name, bytes] of Object.entries(parts)) await writeFile(at(name), bytes);
  const first = 'parts-00001-of-00003.gguf';
  const { status } = await weft('text', at(first), '-o', at('parts.weft'));
  expect(status).toBe(0);
  expect(await generated('parts.weft')).toEqual(greedyTokens(12));
  const { status: refused, err } = await weft(
    'text',
    at('parts-00002-of-00003.gguf'),
    '-o',
    at('parts.weft'),
  );
  expect(refused).toBe(2);
  expect(err).toContain(`got another than the first of 3 files of a model, expected ${first}.`);
});

test('a GGUF file needs no other', async () => {
  const vocabulary = gemmaVocabulary(512);
  const template =
    '{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m.content }}{% endfor %}';
  const metadata = { ...vocabulary, 'tokenizer.chat_template': template };
  await writeFile(at('alone.gguf'), ggufOf(decoder, {}, [], metadata));
  const { status, out } = await weft('text', at('alone.gguf'), '-o', at('alone/model.weft'));
  expect(status).toBe(0);
  const names = [
    'config.json',
    'generation_config.json',
    'tokenizer.json',
    'tokenizer_config.json',
  ];
  for (const name of names) {
    expect(out).toMatch(new RegExp(`${join('alone', name)}: .*, as alone.gguf says`));
  }
  const read = (name: string) => readFile(at(join('alone', name))).catch(() => undefined);
  const model = await TextModel.load(read, { device: 'wasm', worker: false });
  expect(model.context).toBe(256);
  const tokens = vocabulary['tokenizer.ggml.tokens'] as readonly string[];
  const ids = await model.tokenizer.encode('quick brown');
  expect(ids.map((id) => tokens[id]).join('')).toBe('<bos>quick▁brown');
  const text = 'quick brown<end_of_turn>';
  expect(await generatedIds(model.generate(text, GREEDY))).toEqual(
    await generatedIds(model.generate(await model.tokenizer.encode(text), GREEDY)),
  );
  const chat = model.chat([{ role: 'user', content: 'quick' }], GREEDY);
  const prompt = await model.tokenizer.encode('<bos><start_of_turn>quick', {
    addSpecialTokens: false,
  });
  expect(await generatedIds(chat)).toEqual(await generatedIds(model.generate(prompt, GREEDY)));
  await model.dispose();

  // Files that exist already are the user's, and left alone.
  await writeFile(at('alone/tokenizer_config.json'), '{}');
  await rm(at('alone/tokenizer.json'));
  const again = await weft('text', at('alone.gguf'), '-o', at('alone/model.weft'));
  expect(again.out).toContain(`${join('alone', 'config.json')}: left as it was`);
  expect(again.out).toMatch(
    new RegExp(`${join('alone', 'tokenizer.json')}: .*, as alone.gguf says`),
  );
  expect(await readFile(at('alone/tokenizer_config.json'), 'utf8')).toBe('{}');
});

test('weights are rounded if asked to, and the terminal says how far that moved them', async () => {
  const metadata = gemmaVocabulary(512);
  await writeFile(at('exact.gguf'), ggufOf(randomDecoder(CONFIG, 5), {}, [], metadata));
  const output = at('rounded/model.weft');
  const flags = ['text', at('exact.gguf'), '-o', output, '--quantize'];
  const { status, out } = await weft(...flags, 'q4_0');
  expect(status).toBe(0);
  const [, matrices, error] = /q4_0: (\d+) matrices, moved by ([\d.]+)%, at most /.exec(out) ?? [];
  expect(Number(matrices)).toBe(2 + 7 * CONFIG.num_hidden_layers);
  const read = (name: string) => readFile(at(join('rounded', name))).catch(() => undefined);
  const model = await TextModel.load(read, { device: 'wasm', worker: false });
  expect(100 * ((await model.quantization())?.error ?? 0)).toBeCloseTo(Number(error), 2);
  await model.dispose();
  const wrong = await weft(...flags, 'q3');
  expect(wrong.status).not.toBe(0);
  expect(wrong.err).toContain('Allowed choices are q8_0, q4_0.');
});

test('caches have the type that is asked for', async () => {
  const metadata = gemmaVocabulary(512);
  await writeFile(at('cached.gguf'), ggufOf(randomDecoder(CONFIG, 5), {}, [], metadata));
  const bytes: number[] = [];
  for (const flags of [[], ['--cache-type', 'float16'], ['--cache-type', 'int8']]) {
    const { status } = await weft(
      'text',
      at('cached.gguf'),
      '-o',
      at('cached/model.weft'),
      ...flags,
    );
    expect(status).toBe(0);
    const read = (name: string) => readFile(at(join('cached', name))).catch(() => undefined);
    const model = await TextModel.load(read, { device: 'wasm', worker: false });
    await model.generate([5, 200, 311], { temperature: 0, maxTokens: 1 }).text();
    bytes.push(model.cacheBytes);
    await model.dispose();
  }
  const [exact = 0, ...others] = bytes;
  const { head_dim: width } = CONFIG;
  expect(others).toEqual([exact / 2, (exact * (width + 4)) / (4 * width)]);
  const wrong = await weft('text', at('cached.gguf'), '-o', at('x.weft'), '--cache-type', 'int4');
  expect(wrong.err).toContain('Allowed choices are float16, int8.');
});

test('a tokenizer that is not known is said before anything is written', async () => {
  const metadata = { ...gemmaVocabulary(512), 'tokenizer.ggml.model': 'bert' };
  await writeFile(at('bert.gguf'), ggufOf(decoder, {}, [], metadata));
  const refused = await weft('text', at('bert.gguf'), '-o', at('bert/model.weft'));
  expect(refused).toMatchObject({ status: 1, out: '' });
  expect(refused.err).toContain(
    'bert.gguf, tokenizer.ggml.model: got bert, expected one of gpt2, llama.',
  );
  await mkdir(at('bert'));
  await writeFile(at('bert/tokenizer.json'), '{}');
  await writeFile(at('bert/config.json'), '{}');
  expect(await weft('text', at('bert.gguf'), '-o', at('bert/model.weft'))).toMatchObject({
    status: 0,
  });
});

test('says what is wrong with a file', async () => {
  await writeFile(at('broken.gguf'), new Uint8Array(100));
  const broken = await weft('text', at('broken.gguf'), '-o', at('x.weft'));
  expect(broken).toMatchObject({ status: 1 });
  expect(broken.err).toContain('broken.gguf');
  const missing = await weft('text', at('none.gguf'), '-o', at('x.weft'));
  expect(missing).toMatchObject({ status: 2 });
});
