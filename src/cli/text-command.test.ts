import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ggufOf,
  randomDecoder,
  safetensorsOf,
} from '../text/architectures/testing/decoder-files.ts';
import { referenceLogits } from '../text/architectures/testing/reference-decoder.ts';
import { TextModel } from '../text/index.ts';
import { storyFolder } from '../text/testing/story-file.ts';
import { type CommandResult, testCommand } from './testing/test-command.ts';

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

/** What plain loops over the published architecture say. */
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
  const ids: number[] = [];
  const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 12 });
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  await model.dispose();
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

test('says what is wrong with a file', async () => {
  await writeFile(at('broken.gguf'), new Uint8Array(100));
  const broken = await weft('text', at('broken.gguf'), '-o', at('x.weft'));
  expect(broken).toMatchObject({ status: 1 });
  expect(broken.err).toContain('broken.gguf');
  const missing = await weft('text', at('none.gguf'), '-o', at('x.weft'));
  expect(missing).toMatchObject({ status: 2 });
});
