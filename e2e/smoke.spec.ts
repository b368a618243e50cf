import type { Locator, Page } from '@playwright/test';
import { startRelay } from '../src/cli/rpc/start-relay.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  findDevice,
  HostTensor,
} from '../src/rpc/index.ts';
import { testProgram } from '../src/rpc/testing/open-connection.ts';
import { BERT_CONFIG, BERT_TOKENIZER, bertModel } from '../src/demo/model/testing/bert-model.ts';
import { neatDigit } from '../src/demo/digits/write-digit.ts';
import {
  canvasSum,
  drawWithMouse,
  expectMachine,
  lookAt,
  resumedAt,
  stepsOf,
} from './demo-page.ts';
import { expect, test } from './fixtures.ts';

// What `npm test` runs: each page of the site, and each part of the demo, shows a result of a run, and its controls do
// what they say. Few unit tests reach the code of pages.

const NO_ADAPTER =
  'no WebGPU adapter in this Chromium: its folder must hold SwiftShader (libvk_swiftshader)';

/** What stands on the ticket that the page shows first. */
const TICKET = ['Night Train 27', 'Glasgow to London', 'Coach B, seat 14', 'GBP 42.50'];

test.describe.configure({ mode: 'parallel' });
test.use({ isStrict: true });

test('the demo reads a picture by itself, and each of its scenes gives a result', async ({
  page,
}) => {
  const response = await page.goto('/');
  expect(response?.status()).toBe(200);
  // The demo offers the processor beside WebGPU, fetches models whose addresses it is given, and moves what runs through relays.
  expect(await response?.headerValue('content-security-policy')).toBe(
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https: ws: wss:",
  );
  for (const [scene, hasResult] of Object.entries(SCENES)) {
    await test.step(scene, async () => {
      await lookAt(page, scene);
      await hasResult(page);
    });
  }
  await expect(page.locator('#notice')).toBeHidden();
});

/** How each scene of the demo is asked for a result. Its code is loaded when it is near: until then nothing hears a click. */
const SCENES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async read(page) {
    const lines = page.getByRole('list', { name: 'Lines that were read' });
    await expect(lines.locator('li')).toHaveText(TICKET);
    await expect(page.locator('#number-time')).toContainText(/^[\d.]+ s/);
    await expect(page.locator('#number-bytes')).toContainText(/^[\d.]+ MB/);
    await expect(page.locator('#number-device')).toContainText('WebAssembly');
    await expectMachine(page, 'PP-OCRv4, lines');
    const notes = { name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') };
    await page.locator('#picture-file').setInputFiles(notes);
    await expect(page.locator('#picture-status')).toHaveAttribute('data-kind', 'error');
  },
  async model(page) {
    await page.getByRole('button', { name: 'Open Sum of a list' }).click();
    await expect(page.locator('#model-answer .verdict')).toContainText('Yes, ');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('#model-run .status')).toContainText('It took');
  },
  async voice(page) {
    await expect(page.locator('#voice-code')).toHaveText(/from 'weft-vm\/tasks'/);
    await page.getByRole('button', { name: 'Play the recording' }).click();
    await expect(page.locator('#voice-status')).toContainText('2 stretches of speech in 5.');
    await expect(page.locator('#voice-facts')).toContainText('Stretches of speech2');
    await expect(page.locator('#machine-facts')).toContainText('Runs on');
    await expect(page.locator('#machine-inside')).toBeEnabled();
    // There is none, or this browser has no right to it.
    await page.getByRole('button', { name: 'Microphone' }).click();
    await expect(page.locator('#voice-status')).toContainText('Play the recording instead.');
  },
  async story(page) {
    const [text, write] = [page.locator('#story-text'), page.locator('#story-write')];
    await expect(write).toBeEnabled();
    await page.getByText('Settings and code').click();
    await page.locator('#story-temperature').fill('0.5');
    await expect(page.locator('#story-temperature-value')).toHaveText('0.50');
    // Between two calls of a test the story could be over.
    const stop = await write.evaluate((button: HTMLButtonElement) => {
      button.click();
      const { textContent } = button;
      button.click();
      return textContent;
    });
    expect(stop).toBe('Stop');
    await expect(write).toHaveText(/^(Go on|Write)$/);
    await page.locator('#story-prompt').fill('Mia went to the park. Tom');
    await expect(text).toHaveText('Mia went to the park. Tom');
    await page.getByLabel('Answer in JSON').check();
    await page.getByRole('button', { name: 'Another one' }).click();
    await expect(page.locator('#story-facts')).toContainText('a second');
    await expect(text).toHaveText(/\{.*"who".*"where".*\}$/);
  },
  async train(page) {
    const facts = page.locator('#train-facts');
    // It moves before anybody touches it.
    await expect(facts).toContainText(/Steps[1-9]/);
    await page.locator('#train-play', { hasText: 'Pause' }).click();
    await expect(page.getByRole('button', { name: 'Go on' })).toBeVisible();
    await page.getByRole('button', { name: 'Start over' }).click();
    await expect(facts).toContainText('Steps0 of');
  },
  async draw(page) {
    const answer = page.locator('#answer');
    await page.getByRole('button', { name: 'Stop the pen' }).click();
    await expect(page.getByRole('button', { name: 'Write by itself' })).toBeVisible();
    await page.getByRole('button', { name: 'Write a 7' }).click();
    await expect(answer).toHaveText('7');
    await expect(page.locator('.bar[data-best]')).toHaveText(/^7/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect(answer).toHaveText('–');
    await drawWithMouse(page, neatDigit(1));
    await expect(answer).toHaveText('1');
    await page.getByRole('button', { name: 'Undo stroke' }).click();
    await expect(answer).toHaveText('–');
    await page.locator('#pad').focus();
    await page.keyboard.press('Space');
    for (let i = 0; i < 11; i++) await page.keyboard.press('ArrowDown');
    await expect(answer).toHaveText('1');
    await page.keyboard.press('Escape');
    await expect(answer).toHaveText('–');
    const seen = await canvasSum(page, '#pad');
    await page.getByRole('button', { name: 'Write by itself' }).click();
    await expect.poll(() => canvasSum(page, '#pad')).not.toBe(seen);
  },
  async simulate(page) {
    const facts = page.locator('#dish-facts');
    await expect(facts).toContainText(/Steps so far[1-9]/);
    await expect(page.locator('#device-switch')).toContainText('Running on');
    await page.locator('#dish-play', { hasText: 'Pause' }).click();
    await page.getByRole('button', { name: 'Reset' }).click();
    await expect(facts).toContainText('Steps so far0');
    await page.locator('#dish-steps').fill('4');
    await expect(page.locator('#dish-steps-value')).toHaveText('4');
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await expect.poll(() => stepsOf(page)).toBe(4);
    await expect(page.locator('.kernels li', { hasText: 'diffuse_and_grow' })).toContainText('×');
    const seen = await canvasSum(page, '#dish');
    await page.locator('#dish').press('Enter');
    await expect.poll(() => canvasSum(page, '#dish')).not.toBe(seen);
    await page.locator('#machine > summary').click();
    await page.locator('#machine-bytecode summary').click();
    await expect(page.locator('#machine-listing')).toContainText('func main(');
  },
};

const jsonFile = (name: string, content: object) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(content)),
});

test('a model that comes with its tokenizer takes a text', async ({ page }) => {
  await page.goto('/#model');
  await expect(page.locator('#cards h4').first()).toBeVisible();
  await page
    .locator('#file')
    .setInputFiles([
      { name: 'model.onnx', mimeType: 'application/onnx', buffer: Buffer.from(bertModel()) },
      jsonFile('config.json', BERT_CONFIG),
      jsonFile('tokenizer.json', BERT_TOKENIZER),
    ]);
  await page.getByLabel('Text for input_ids').fill('The sun is bright');
  await expect(page.locator('.inputs .status')).toHaveText('6 tokens.');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('list', { name: 'Likeliest in logits' })).toContainText('day');
});

test('a simulation moves to another tab, and goes on there', async ({ page, context }) => {
  await page.goto('/#simulate');
  await expect(page.locator('#dish-facts')).toContainText(/Steps so far[1-9]/);
  const opening = context.waitForEvent('page');
  await page.locator('#dish-move').click();
  const other = await opening;
  await expect(page.locator('#dish-facts')).toContainText('continues in the other tab');
  await expect(page.getByRole('button', { name: 'Begin anew' })).toBeEnabled();
  const at = await resumedAt(other);
  await expect.poll(() => stepsOf(other)).toBeGreaterThan(at);
});

test('the inspector shows, runs and steps through a model that was opened', async ({ page }) => {
  await page.goto('/#model');
  await expect(page.locator('#cards h4').first()).toBeVisible();
  await page.locator('#file').setInputFiles('models/digits/model.onnx');
  await expect(page.locator('#model-answer .verdict')).toContainText('Yes, ');
  await expect(page.locator('#model-answer .facts')).toContainText('image: float [1, 1, 28, 28]');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const best = page.getByRole('list', { name: 'Likeliest in probabilities' }).locator('li').first();
  await expect(best).toContainText('3');
  await page.getByRole('button', { name: 'Side by side' }).click();
  const lanes = page.getByRole('list', { name: 'Time of a run' }).locator('li');
  await expect(lanes.locator('.bar-value')).toHaveText(
    Array.from({ length: 3 }, () => /^[\d.]+ ms$/),
  );
  await page.getByRole('button', { name: 'Look inside this model' }).click();
  const inspector = page.getByRole('dialog', { name: 'Inspector' });
  for (const [tab, show] of Object.entries(VIEWS)) {
    await test.step(tab, async () => {
      await inspector.getByRole('tab', { name: tab, exact: true }).click();
      await show(inspector);
    });
  }
  await page.keyboard.press('Escape');
  await expect(inspector).toBeHidden();
});

/** What each view of the inspector does, by its tab. */
const VIEWS: Readonly<Record<string, (inspector: Locator) => Promise<void>>> = {
  async Graph(inspector) {
    const status = inspector.getByRole('status');
    const graph = inspector.getByRole('application', { name: /^Graph of main: \d+/ });
    await inspector.getByRole('searchbox').fill('softmax');
    await inspector.getByRole('searchbox').press('Enter');
    await expect(status).toHaveText(/kernel, softmax/);
    await graph.press('ArrowUp');
    await expect(status).not.toHaveText(/kernel, softmax/);
    await graph.press('ArrowDown');
    for (const act of [() => graph.press('-'), () => turnWheel(graph, 90)]) {
      const seen = await canvasSum(inspector.page(), '#graph canvas');
      await act();
      await expect.poll(() => canvasSum(inspector.page(), '#graph canvas')).not.toBe(seen);
    }
    await inspector.locator('#graph summary').click();
    await expect(inspector.locator('#graph').getByRole('option').first()).toBeVisible();
  },
  async Code(inspector) {
    await inspector
      .getByRole('option', { name: /: call conv2d/ })
      .first()
      .click();
    await expect(inspector.getByRole('region', { name: 'Kernel' })).toContainText(
      'primitive conv2d',
    );
  },
  async Passes(inspector) {
    await inspector.getByRole('button', { name: 'Compile and watch' }).click();
    await inspector.getByRole('option', { name: /^fuse/ }).click();
    await expect(inspector.getByRole('option', { name: /^\+ .*primitive=/ }).first()).toBeVisible();
  },
  async Memory(inspector) {
    await expect(inspector.getByRole('img', { name: /^Memory of main: at most \d/ })).toBeVisible();
    const held = inspector.getByRole('button', { name: /^[\d.]+ K?B, / }).first();
    await held.click();
    await expect(held).toHaveAttribute('aria-pressed', 'true');
  },
  async Run(inspector) {
    const status = inspector.getByRole('status');
    await inspector.getByRole('button', { name: 'Run on random input' }).click();
    await expect(status).toHaveText(/^\d+ kernels launched in /);
    await inspector.getByRole('button', { name: 'Compare with the host' }).click();
    await expect(status).toHaveText(/^No value departs, in \d+ calls of kernels\.$/);
    await expect(inspector.getByRole('row', { name: /^softmax 1/ })).toBeVisible();
    await inspector.getByRole('button', { name: 'softmax', exact: true }).click();
    await expect(status).toHaveText(/kernel, softmax/);
  },
  async Timeline(inspector) {
    const status = inspector.getByRole('status');
    await inspector.getByLabel('Runs').fill('2');
    await inspector.getByRole('button', { name: 'Record on random input' }).click();
    await expect(status).toHaveText(/^\d+ instructions and \d+ kernels in /);
    const drawing = inspector.getByRole('application', { name: /^Timeline of .* ms: \d+ events$/ });
    await drawing.press('ArrowRight');
    await expect(status).toHaveText(/, instruction, .* ms from .* ms on\.$/);
    const zoomIn = () => inspector.getByRole('button', { name: 'Zoom in' }).click();
    for (const act of [zoomIn, () => drawing.press('Home'), () => turnWheel(drawing, -90, true)]) {
      const seen = await canvasSum(inspector.page(), '#timeline canvas');
      await act();
      await expect.poll(() => canvasSum(inspector.page(), '#timeline canvas')).not.toBe(seen);
    }
    await inspector.getByLabel('Show').selectOption('load');
    await expect(status).toHaveText(/^Loaded in [\d.]+ ms: \d+ events\.$/);
  },
  async Step(inspector) {
    const [status, into] = [
      inspector.getByRole('status'),
      inspector.getByRole('button', { name: 'Step into' }),
    ];
    const after = (count: number) =>
      new RegExp(`^Stands before .*, after ${count} instructions?\\.$`);
    await into.press('F11');
    await expect(status).toHaveText(after(0));
    await into.press('F11');
    await expect(status).toHaveText(after(1));
    await into.press('F10');
    await expect(status).toHaveText(after(2));
    await into.press('F8');
    await expect(status).toHaveText(after(1));
    await inspector.getByRole('button', { name: /^%0 float32 tensor/ }).click();
    await expect(inspector.getByRole('img', { name: /^Histogram from/ })).toBeVisible();
    const softmax = inspector.getByRole('option', { name: /: call softmax/ });
    await softmax.locator('.line-margin').click();
    await into.press('F5');
    await expect(status).toHaveText(/^At a breakpoint before /);
    const breakpoint = inspector.getByRole('list', { name: 'Breakpoints' }).getByRole('button');
    await breakpoint.click();
    await expect(breakpoint).toHaveCount(0);
    await into.press('F5');
    await expect(status).toHaveText(/^Ended after \d+ instructions\.$/);
    await into.press('Shift+F5');
    await expect(status).toHaveText('Stopped.');
  },
};

/** Turns the wheel over the middle of a place, with the key Ctrl as a trackpad's pinch does. */
async function turnWheel(place: Locator, deltaY: number, isPinch = false): Promise<void> {
  await place.hover();
  if (isPinch) await place.page().keyboard.down('Control');
  await place.page().mouse.wheel(0, deltaY);
  if (isPinch) await place.page().keyboard.up('Control');
}

const PROGRAM = 'def @main(%x: Tensor[(n,), float32]) { add(%x, 1f) } // It adds.';

test('the playground compiles what is chosen or written, runs it, and keeps it in a link', async ({
  page,
}) => {
  const [status, result] = [page.getByRole('status'), page.locator('#result')];
  const editor = page.getByRole('textbox', { name: 'Program' });
  await page.goto('/playground.html');
  await expect(status).toHaveText('Done.');
  await page.locator('#passes summary').first().click();
  await expect(page.locator('#passes .added').first()).toBeVisible();
  await expect(page.locator('#bytecode')).toContainText('func main(');
  await page.getByLabel('Example').selectOption('Recursion');
  await expect(result).toContainText('1024');
  // Over what is selected, Chromium would write text with a style, which the policy forbids.
  for (const key of ['ControlOrMeta+a', 'Delete']) await editor.press(key);
  await page.keyboard.insertText(PROGRAM);
  await page.getByLabel('Arguments').fill('{ "x": [1, 4] }');
  // A key that runs it, and leaves the text as it is.
  await editor.press('ControlOrMeta+Enter');
  await expect(result).toHaveText(/2[^]*5/);
  await expect(editor.locator('.cm-line')).toHaveText([PROGRAM]);
  await expect(editor.locator('span', { hasText: /^def$/ })).toBeVisible();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect(status).toHaveText(/^The link is /);
  await page.getByLabel('Arguments').fill('{ "x": "no" }');
  await page.getByLabel('Arguments').press('Enter');
  await expect(status).toHaveText('See the result.');
  await expect(result).toHaveClass('wrong');
  await page.reload();
  await expect(status).toHaveText('From a link. Read it, then run it.');
  await expect(editor).toHaveText(PROGRAM);
  await expect(result).toHaveText('');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(status).toHaveText('Done.');
  await expect(result).not.toHaveClass('wrong');
  await expect(result).toHaveText(/2[^]*5/);
});

test('the page that measures checks kernels, and stops', async ({ page }) => {
  await page.goto('/report.html');
  await page.getByLabel('a part, about a minute').check();
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByText(/^\w+, \d+ of \d{3}$/)).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('status')).toHaveText(/^Cancelled after .* checked is right\.$/);
  await expect(page.getByRole('cell', { name: 'software adapters' })).toBeVisible();
});

test('the page that lends a device runs what it is asked to, shows its address, and stops', async ({
  page,
}) => {
  const token = createToken();
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
  try {
    const fields = { relay: relay.url, key: 'phone', token };
    await page.goto(`/rpc.html#${new URLSearchParams(fields).toString()}`);
    await page.getByRole('button', { name: 'Lend this device' }).click();
    await expect(page.getByRole('status')).toContainText(`as phone at ${relay.url}`);
    const remote = await connect(relay.url, { key: 'phone', token, name: 'desk' });
    const device = findDevice(remote, 'webgpu');
    const functions = { 'local.add': () => null };
    const module = await remote.load(testProgram(), { device, functions });
    const tensor = HostTensor.from('float32', [3], [1, 2, 3]);
    expect(await (await module.getFunction('copy'))(tensor)).toEqual(tensor);
    await expect(page.getByRole('row').filter({ hasText: 'desk' })).toBeVisible();
    await page.getByRole('button', { name: 'Stop lending' }).click();
    expect(await remote.closed).toMatchObject({ name: 'RemoteLostError' });
    await expect(page.getByRole('status')).toHaveText('Not lent.');
    await page.getByText('Lend another device too').click();
    await expect(page.getByRole('img', { name: 'The address as a QR code' })).toBeVisible();
    await page.getByText('What to start on the other side').click();
    await expect(page.getByRole('region', { name: 'Command for the program' })).toContainText(
      `--relay ${relay.url} --key phone`,
    );
  } finally {
    await relay.close();
  }
});

test('the browser has a WebGPU adapter that computes', async ({ page }) => {
  await page.goto('/rpc.html');
  const adapter = await page.evaluate(async () => {
    const found = await navigator.gpu?.requestAdapter();
    if (!found) return undefined;
    const device = await found.requestDevice();
    const buffer = device.createBuffer({ size: 4, usage: 0x0009, mappedAtCreation: false });
    device.queue.writeBuffer(buffer, 0, Uint32Array.of(42));
    await buffer.mapAsync(0x0001);
    const value = new Uint32Array(buffer.getMappedRange())[0];
    return { vendor: found.info.vendor, architecture: found.info.architecture, value };
  });
  expect(adapter, NO_ADAPTER).toBeDefined();
  expect(adapter?.value).toBe(42);
});
