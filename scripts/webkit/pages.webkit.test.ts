import type { Plugin } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ggufOf,
  randomDecoder,
} from '../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { llamaVocabulary } from '../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { COLOURS } from '../../src/tasks/testing/colours-model.ts';
import { servePages } from '../open-pages.ts';
import { openWebkit, type WebkitPage } from './open-webkit.ts';

// The wasm device and what stands on it in WebKitGTK, which has no WebGPU: the pages of the browser tests, and those of the site.

const CONFIG = {
  model_type: 'llama',
  vocab_size: 512,
  hidden_size: 64,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  head_dim: 32,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
};
const TEMPLATE =
  "{% for m in messages %}{% if m.content == 'loop' %}{% for i in range(100000000) %}x{% endfor %}" +
  '{% endif %}<s>{{ m.content }}{% endfor %}';

/** A model that pages load by its address. */
const served: Plugin = {
  name: 'weft:served-model',
  configurePreviewServer(server) {
    const tokenizer = { ...llamaVocabulary(512), 'tokenizer.chat_template': TEMPLATE };
    const model = ggufOf(randomDecoder(CONFIG, 9), {}, [], tokenizer);
    server.middlewares.use('/served/talk.gguf', (_, response) => {
      response.end(model);
    });
  },
};

let address = '';
let close: () => Promise<void> = async () => undefined;
let page: WebkitPage;

beforeAll(async () => {
  ({ address, close } = await servePages({ plugins: [served] }));
  page = await openWebkit();
});
afterAll(async () => {
  await page?.close();
  await close();
});

const open = (path: string, ready?: string): Promise<void> => page.open(address + path, ready);

test('operators on one thread and on two give what their references say', async () => {
  await open('e2e/pages/threads-apart.html');
  const found = await page.evaluate<{
    differences: readonly string[];
    changed: readonly string[];
    operatorCount: number;
    threads: number;
  }>('return weftThreads.operators({ relaxedSimd: false, isApart: true });');
  expect(found.differences).toEqual([]);
  expect(found.changed).toEqual([]);
  expect(found.operatorCount).toBeGreaterThan(100);
  expect(found.threads).toBe(2);
});

test('sessions run, keep what they are told to keep, end by a signal, and say what is wrong', async () => {
  await open('e2e/pages/wasm.html');
  const seen = await page.evaluate<Record<string, unknown>>(`
    const bytes = await weft.compile(
      'def @main(%x: Tensor[(n,), float32]) { let %y = add(%x, 1f); mul(%y, %y) }');
    const session = await weft.Session.load(bytes.slice(), { device: 'wasm' });
    const x = weft.Tensor.from([1, 2, 3], 'float32', [3]);
    const name = session.outputs[0].name;
    const first = await session.run({ x });
    const kept = await session.run({ x }, { keep: 'device' });
    const again = await session.run({ x: kept[name] });
    const wrong = await weft.failure(session.run({ y: x }));
    const aborted = await weft.failure(
      weft.Session.load(bytes.slice(), { device: 'wasm', signal: AbortSignal.abort() }));
    const { runs } = await session.profile({ x }).then(({ kernels }) => ({ runs: kernels.length }));
    await session.dispose();
    return {
      kind: session.device.kind, first: [...first[name].data], again: [...again[name].data],
      wrong: wrong.message, aborted: aborted.name, runs,
    };`);
  expect(seen).toMatchObject({
    kind: 'wasm',
    first: [4, 9, 16],
    again: [25, 100, 289],
    aborted: 'AbortError',
  });
  expect(seen['wrong']).toContain('y');
  expect(seen['runs']).toBeGreaterThan(0);
});

test('where there are no private files, snapshots say what to do, and downloads are just not kept', async () => {
  await open('e2e/pages/wasm.html');
  const seen = await page.evaluate<{ files: boolean; store: string; kept: number; ran: string }>(`
    const files = await navigator.storage?.getDirectory?.().then(() => true, () => false) ?? false;
    const { message: store } = await weft.failure(weft.opfsStore('webkit'));
    const list = await weft.modelCache.list();
    const session = await weft.Session.load('/models/digits.weft', { device: 'wasm', cache: true })
      .catch((error) => ({ device: { kind: String(error) }, dispose: async () => {} }));
    await session.dispose();
    return { files, store, kept: list.length, ran: session.device.kind };`);
  expect(seen.ran).toBe('wasm');
  if (seen.files) expect(seen.store).toBe('it resolved');
  else expect(seen.store).toContain('rows of IndexedDB');
});

test('a language model is compiled, writes, follows a constraint and a conversation', async () => {
  await open('e2e/pages/text-wasm.html');
  const written = await page.evaluate<{ ids: readonly number[]; device: string }>(
    "return weftText.write('/served/talk.gguf');",
  );
  expect(written.device).toBe('wasm');
  expect(written.ids.length).toBeGreaterThan(0);
  const talk = await page.evaluate<Record<string, unknown>>(
    "return weftText.talk('/served/talk.gguf');",
  );
  expect(talk).toMatchObject({ decoded: 'hello wörld', hasText: true });
  expect(talk['refusal']).toContain('got more than 2000000 steps');
  expect(['yes', 'no']).toContain(talk['word']);
});

test('tasks read pictures of canvases', async () => {
  await open('e2e/pages/tasks-wasm.html');
  const found = await page.evaluate<readonly { label: string }[]>(
    "return weftTasks.classify(given[0], '#00ff33');",
    Array.from(COLOURS),
  );
  expect(found.map(({ label }) => label)).toEqual(['green']);
});

test('a network is trained, and numbers are those of every device', async () => {
  await open('e2e/pages/program-wasm.html');
  const { first, last } = await page.evaluate<{ first: number; last: number }>(
    'return weftProgram.train(40);',
  );
  expect(last).toBeLessThan(0.8 * first);
  const { bits } = await page.evaluate<{ bits: readonly number[] }>(
    'return weftProgram.numbers();',
  );
  expect(bits).toEqual([2895194379, 4185947648, 1300703658, 1906787632]);
});

test('the demo reads its ticket by itself, and tells what that took here', async () => {
  await open('', "document.querySelector('#number-bytes small') !== null");
  const seen = await page.evaluate<Record<string, unknown>>(`
    const textOf = (id) => document.getElementById(id).textContent;
    return {
      lines: [...document.querySelectorAll('#picture-text li')].map(({ textContent }) => textContent),
      time: textOf('number-time'), device: textOf('number-device'), wide: document.documentElement.scrollWidth - innerWidth,
    };`);
  expect(seen).toMatchObject({
    lines: ['Night Train 27', 'Glasgow to London', 'Coach B, seat 14', 'GBP 42.50'],
    device: expect.stringContaining('WebAssembly') as string,
  });
  expect(seen['time']).toMatch(/^[\d.]+ s/);
  expect(seen['wide']).toBeLessThanOrEqual(0);
});

const TEXT = 'document.body.textContent';

test.each([
  [
    'a simulation',
    '#simulate',
    "/Steps so far[1-9]/.test(document.querySelector('#dish-facts').textContent)",
  ],
  ['a digit', '#draw', "/Looks like/.test(document.querySelector('#answer-text').textContent)"],
  ['a training', '#train', "/Steps[1-9]/.test(document.querySelector('#train-facts').textContent)"],
  ['the playground', 'playground.html', `/\\d/.test(${TEXT})`],
  ['lending', 'rpc.html', `/device/i.test(${TEXT})`],
  ['measuring', 'report.html', `/Measure this machine/.test(${TEXT})`],
])('%s opens', async (_title, path, ready) => {
  await open(path, ready);
  const alert = await page.evaluate<string>(
    "return [...document.querySelectorAll('[role=alert]')].map((e) => e.textContent).join(' ');",
  );
  expect(alert).not.toMatch(/disposed|failed|internal/i);
});
