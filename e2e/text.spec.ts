import { existsSync, readFileSync } from 'node:fs';
import type { Page, Route } from '@playwright/test';
import {
  ggufOf,
  randomDecoder,
} from '../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { referenceLogits } from '../src/frontend/decoders/architectures/testing/reference-decoder.ts';
import { llamaVocabulary } from '../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { expect, testOfPage as test } from './fixtures.ts';
import type { TextPage } from './pages/text.ts';

declare const weftText: TextPage;

const CONFIG = {
  model_type: 'llama',
  vocab_size: 512,
  hidden_size: 256,
  intermediate_size: 512,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 64,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
};
const PROMPT = [5, 200, 311, 17];
const decoder = randomDecoder(CONFIG, 9);
const GGUF = Buffer.from(ggufOf(decoder));
const STORIES = new URL('../public/models/stories/', import.meta.url);

/** Answers for the files of a folder as a server does, by ranges; gives what was asked for, as lines. */
async function serve(page: Page, files: Readonly<Record<string, Buffer>>): Promise<string[]> {
  const asked: string[] = [];
  await page.route('**/served/**', async (route: Route) => {
    const request = route.request();
    const name = decodeURIComponent(new URL(request.url()).pathname.split('/served/')[1] ?? '');
    const range = request.headers()['range'];
    asked.push(`${request.method()} ${name}`);
    const body = files[name];
    if (body === undefined) return route.fulfill({ status: 404, body: 'no such file' });
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const end = Math.min(Number(to ?? body.byteLength) + 1, body.byteLength);
    const etag = `"${body.byteLength}"`;
    if (request.method() === 'HEAD') {
      return route.fulfill({ headers: { etag, 'content-length': String(body.byteLength) } });
    }
    if (from === undefined) return route.fulfill({ body, headers: { etag } });
    const part = body.subarray(Number(from), end);
    const contentRange = `bytes ${from}-${end - 1}/${body.byteLength}`;
    return route.fulfill({
      status: 206,
      body: part,
      headers: { etag, 'content-range': contentRange },
    });
  });
  return asked;
}

function smallFiles(): Record<string, Buffer> {
  const names = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json'];
  const there = names.filter((name) => existsSync(new URL(name, STORIES)));
  return Object.fromEntries(there.map((name) => [name, readFileSync(new URL(name, STORIES))]));
}

test.use({ address: '/e2e/pages/text.html' });

test('a GGUF file is compiled in the worker, kept, and after a reload not fetched again', async ({
  page,
}) => {
  const asked = await serve(page, { ...smallFiles(), 'model.gguf': GGUF });
  const first = await page.evaluate(() => weftText.write('/served/model.gguf'));
  expect(first.device).toBe('webgpu');
  expect(first.phases).toEqual(expect.arrayContaining(['download', 'compile', 'upload']));
  expect(first.downloaded[0]).toBe(first.downloaded[1]);
  expect(asked.filter((line) => line === 'GET model.gguf').length).toBeGreaterThan(1);
  // Each is the likeliest by plain loops over the weights.
  const logits = referenceLogits(CONFIG, decoder.weights, [...PROMPT, ...first.ids]);
  expect(first.ids).toHaveLength(12);
  for (const [i, id] of first.ids.entries()) {
    const row = logits[PROMPT.length - 1 + i] ?? [];
    expect(Math.max(...row) - (row[id] ?? Number.NaN)).toBeLessThan(1e-3);
  }
  expect(await page.evaluate(() => weftText.kept())).toContain('model.gguf');

  asked.length = 0;
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-ready', 'true');
  const again = await page.evaluate(() => weftText.write('/served/model.gguf'));
  expect(again.ids).toEqual(first.ids);
  expect(asked).toContain('HEAD model.gguf');
  expect(asked.filter((line) => line.startsWith('GET'))).toEqual([]);

  // Without any answer too.
  await page.unroute('**/served/**');
  await page.route('**/served/**', (route) => route.abort());
  const offline = await page.evaluate(() => weftText.write('/served/model.gguf'));
  expect(offline.ids).toEqual(first.ids);
  await page.evaluate(() => weftText.clear());
  expect(await page.evaluate(() => weftText.kept())).toEqual([]);
});

test('a folder of transformers.js', async ({ page }) => {
  const written = await page.evaluate(() =>
    weftText.write('/models/stories/', { file: 'onnx/model_fp16.onnx' }),
  );
  const compiled = await page.evaluate(() => weftText.write('/models/stories/'));
  expect(written.phases).toContain('compile');
  expect(written.ids).toEqual(compiled.ids);
  expect(await page.evaluate(() => weftText.kept())).toEqual(
    expect.arrayContaining(['model_fp16.onnx', 'model.weft', 'tokenizer.json']),
  );
  await page.evaluate(() => weftText.clear());
});

test('tokens, conversations and constraints come from a worker of their own', async ({ page }) => {
  const template =
    "{% for m in messages %}{% if m.content == 'loop' %}{% for i in range(100000000) %}x{% endfor %}" +
    '{% endif %}<s>{{ m.content }}{% endfor %}';
  const tokenizer = { ...llamaVocabulary(512), 'tokenizer.chat_template': template };
  await serve(page, { 'talk.gguf': Buffer.from(ggufOf(decoder, {}, [], tokenizer)) });
  const seen = await page.evaluate(() => weftText.talk('/served/talk.gguf'));
  expect(seen).toMatchObject({ decoded: 'hello wörld', hasText: true });
  expect(seen.promptTokens).toBeGreaterThan(1);
  expect(seen.refusal).toContain('got more than 2000000 steps, expected a template that ends');
  expect(['yes', 'no']).toContain(seen.word);
  expect(seen.later).toBe('UsageError: The session was disposed.');
});

test('what is not supported is said before weights come', async ({ page }) => {
  const other = Buffer.from(GGUF);
  const at = other.indexOf('llama');
  other.write('mamba', at);
  const asked = await serve(page, { ...smallFiles(), 'model.gguf': other });
  expect(await page.evaluate(() => weftText.failure('/served/model.gguf'))).toContain(
    'UnsupportedError: GGUF file, general.architecture: got mamba, expected one of llama',
  );
  expect(asked.filter((line) => line === 'GET model.gguf')).toHaveLength(1);
});
