import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { BERT_CONFIG, BERT_TOKENIZER, bertModel } from '../src/demo/model/testing/bert-model.ts';
import { reluModel } from '../src/testing/relu-model.ts';
import { AXE, expectAccessible, expectMachine } from './demo-page.ts';
import { expect, testOnOnePage as test } from './fixtures.ts';

test.use({ isStrict: true, address: '/?device=webgpu#model' });

test.beforeEach(({ page }) => expect(page.locator('#cards h4').first()).toBeVisible());

const give = (page: Page, name: string, buffer: Buffer): Promise<void> =>
  page.locator('#file').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
const run = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Run', exact: true }).click();

const json = (name: string, content: object) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(content)),
});
const bert = (length?: number) => ({
  name: 'model.onnx',
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(bertModel(length)),
});

test('lists examples, answers for each, and runs it', async ({ page }) => {
  const titles = ['Handwritten digits', 'Speech or not', 'Reaction-diffusion', 'Sum of a list'];
  await expect(page.locator('#cards h4')).toHaveText(titles);
  for (const title of titles) {
    await page.getByRole('button', { name: `Open ${title}` }).click();
    await expect(page.locator('#model-answer .verdict')).toContainText('Yes, ');
    await expect(page.locator('#model-run h3').first()).toContainText('Loaded on');
    await run(page);
    await expect(page.locator('#model-run .status')).toContainText('It took');
    await expect(page.locator('#model-run table')).toContainText('float32');
  }
});

test('answers from the head of a file, then reads a drawn picture', async ({ page }) => {
  await give(page, 'digits.onnx', readFileSync('models/digits/model.onnx'));
  await expect(page.locator('#model-answer .verdict')).toHaveText(
    'Will it run here? Yes, in WebAssembly, which is faster here than WebGPU.',
  );
  const facts = page.locator('#model-answer .facts');
  await expect(facts).toContainText('ONNX model');
  await expect(facts).toContainText('image: float [1, 1, 28, 28]');
  await expect(facts).toContainText('Conv ×2');
  await expect(facts).toContainText(/ms a run on .*measured: [\d.,]+ GFLOP\/s, [\d.,]+ GB\/s/);
  await expect(page.getByLabel('image', { exact: true })).toHaveValue('A drawn picture');
  await run(page);
  const best = page.getByRole('list', { name: 'Likeliest in probabilities' }).locator('li').first();
  await expect(best).toContainText('3');
  await page.getByLabel('Labels').setInputFiles({
    name: 'labels.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n'),
  });
  await run(page);
  await expect(best).toContainText('three');
  await expectMachine(page, 'digits.onnx');
  await page.getByRole('button', { name: 'Look inside this model' }).click();
  await page.getByRole('tab', { name: 'Passes' }).click();
  await page.getByRole('button', { name: 'Compile and watch' }).click();
  await expect(page.getByRole('option', { name: /^fuse/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('takes a text where a tokenizer comes with the model, and names its classes', async ({
  page,
  browserName,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const files = [json('config.json', BERT_CONFIG), bert(), json('tokenizer.json', BERT_TOKENIZER)];
  await page.locator('#file').setInputFiles(files);
  await expect(page.getByLabel('input_ids', { exact: true })).toHaveValue('A text');
  await expect(page.getByLabel('attention_mask')).toHaveValue('One for each token');
  const text = page.getByLabel('Text for input_ids');
  await text.fill('The sun is bright');
  await expect(page.locator('.inputs .status')).toHaveText('6 tokens.');
  await expect(page.getByLabel('sequence', { exact: true })).toHaveValue('6');
  await expect(page.getByLabel('sequence', { exact: true })).toBeDisabled();
  await run(page);
  const best = page.getByRole('list', { name: 'Likeliest in logits' }).locator('li').first();
  await expect(best).toContainText('day');
  await expect(best).toContainText('60');
  await text.fill('The moon is dark');
  await run(page);
  await expect(best).toContainText('night');
  await page.evaluate(AXE);
  // Firefox's content process crashes (signal 11) while axe-core walks the facts of a machine that runs.
  await expectAccessible(page, 'a text', browserName === 'firefox' ? '#model-run' : ':root');
});

test('says that a text needs a tokenizer, takes one, and fills rows up', async ({ page }) => {
  await page.locator('#file').setInputFiles(bert(10));
  const note = page.locator('.inputs .status');
  await expect(note).toContainText('A text needs the tokenizer.json of this model');
  const ids = page.getByLabel('input_ids', { exact: true });
  await expect(ids).toHaveValue('Random');
  await run(page);
  // Elements of a vector are no scores of classes.
  await expect(page.locator('#model-run table')).toContainText('pooler_output');
  await expect(page.locator('#model-run h4')).toHaveText(['Likeliest in logits']);
  await ids.selectOption('A text');
  await run(page);
  await expect(page.locator('#model-run > .status')).toContainText('got no tokenizer');
  const field = page.getByLabel('tokenizer.json', { exact: true });
  await field.setInputFiles(json('notes.json', []));
  await expect(note).toContainText('tokenizer.json: got no object, expected an object in JSON');
  await field.setInputFiles(json('tokenizer.json', BERT_TOKENIZER));
  await page.getByLabel('Text for input_ids').fill('The sun is bright');
  await expect(note).toHaveText('6 tokens, filled up to 10.');
  await run(page);
  const best = page.getByRole('list', { name: 'Likeliest in logits' }).locator('li').first();
  await expect(best).toContainText('60');
});

test('finds the tokenizer of a model by its address', async ({ page, baseURL }) => {
  const folder = `${baseURL}/bert/`;
  const bodies = {
    'onnx/model.onnx': Buffer.from(bertModel()),
    'tokenizer.json': JSON.stringify(BERT_TOKENIZER),
    'tokenizer_config.json': '{}',
    'config.json': JSON.stringify(BERT_CONFIG),
  };
  for (const [name, body] of Object.entries(bodies)) {
    await page.route(`${folder}${name}`, (route) => route.fulfill({ body }));
  }
  await page.getByLabel('Or its address').fill(`${folder}onnx/model.onnx`);
  await page.getByRole('button', { name: 'Ask' }).click();
  await expect(page.getByLabel('input_ids', { exact: true })).toHaveValue('A text');
  await run(page);
  await expect(page.getByRole('list', { name: 'Likeliest in logits' })).toContainText('night');
});

test('is asked by an address of this site, and takes numbers', async ({ page }) => {
  await page.getByLabel('Or its address').fill('models/list-sum.weft');
  await page.getByRole('button', { name: 'Ask' }).click();
  await expect(page.locator('#model-run h3').first()).toContainText('Loaded on');
  // In Firefox `fill` selects nothing in a number field, so that it would add to what is there.
  await page.getByLabel('n', { exact: true }).fill('');
  await page.getByLabel('n', { exact: true }).fill('5');
  await run(page);
  const row = page.locator('.kernels li', { hasText: 'add' });
  await expect(row.locator('.kernel-time')).toContainText('×10');
});

test('names operators that Weft does not have, before anything is loaded', async ({ page }) => {
  await give(page, 'strange.onnx', Buffer.from(reluModel('Frobnicate')));
  await expect(page.locator('#model-answer .verdict')).toContainText('Will it run here? No.');
  await expect(page.locator('#model-answer .verdict')).toContainText('Frobnicate');
  // What does not run takes no time.
  await expect(page.locator('#model-answer')).not.toContainText('Takes about');
  await expect(page.locator('#model-run')).toBeHidden();
});

test('a link says what a check found elsewhere, and fetches nothing by itself', async ({
  page,
}) => {
  await page.evaluate(() => {
    const copied: string[] = [];
    Reflect.set(globalThis, 'copied', copied);
    navigator.clipboard.writeText = async (text) => void copied.push(text);
  });
  await page.getByRole('button', { name: 'Open Sum of a list' }).click();
  await page.getByRole('button', { name: 'Copy a link to this check' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  const [link = ''] = await page.evaluate(() => Reflect.get(globalThis, 'copied') as string[]);
  const other = await page.context().newPage();
  const models: string[] = [];
  other.on('request', (request) => models.push(...(request.url().match(/list-sum/) ?? [])));
  await other.goto(link);
  await expect(other.locator('#model-answer')).toContainText('On another machine: Yes, ');
  await expect(other.locator('#model-url')).toHaveValue(/models\/list-sum\.weft$/);
  expect(models).toEqual([]);
  await other.getByRole('button', { name: 'Ask' }).click();
  await expect(other.locator('#model-run h3').first()).toContainText('Loaded on');
  await other.close();
});

test('weights without a program are refused by their name', async ({ page }) => {
  const header = Buffer.from('{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}');
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  await give(page, 'model.safetensors', Buffer.concat([length, header, Buffer.alloc(4)]));
  await expect(page.locator('#model-answer .status')).toContainText('a safetensors file');
});

test('compares devices, and onnxruntime-web when asked to', async ({ page }) => {
  await give(page, 'digits.onnx', readFileSync('models/digits/model.onnx'));
  await page.getByRole('button', { name: 'Side by side' }).click();
  const lanes = page.getByRole('list', { name: 'Time of a run' }).locator('li');
  const other = page.getByRole('button', { name: 'And onnxruntime-web' });
  await other.click();
  await expect(lanes).toHaveCount(4);
  for (const name of ['WebGPU', 'WebAssembly', 'Host', 'onnxruntime-web']) {
    await expect(lanes.filter({ hasText: name }).locator('.bar-value')).toHaveText(/^[\d.]+ ms$/);
  }
  await expect(page.locator('.race [data-best]')).toHaveCount(1);
});

test('says what is wrong with a file that is no model', async ({ page }) => {
  await give(page, 'notes.weft', Buffer.from('This is no executable. '.repeat(20)));
  await expect(page.locator('#model-answer .status[data-kind="error"]')).toContainText(
    'expected an ONNX model, a GGUF file or a Weft executable',
  );
  await page.getByRole('button', { name: 'Open Sum of a list' }).click();
  await expect(page.locator('#model-answer h3')).toHaveText('list-sum.weft');
});
