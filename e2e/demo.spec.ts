import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type Axe from 'axe-core';
import type { Page } from '@playwright/test';
import type { Point } from '../src/demo/digits/rasterize-drawing.ts';
import { BERT_CONFIG, BERT_TOKENIZER, bertModel } from '../src/demo/model/testing/bert-model.ts';
import { neatDigit } from '../src/demo/digits/write-digit.ts';
import { expect, test } from './fixtures.ts';
import { reluModel } from './relu-model.ts';

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

// The fixture watches the console for the policy only; here any error counts, and violations are
// also counted by the page itself.
test.beforeEach(async ({ page, watched }) => {
  page.on('console', (message) => {
    if (message.type() === 'error') watched.complaints.push(`console: ${message.text()}`);
  });
  await page.exposeFunction('reportViolation', (text: string) => watched.complaints.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const report: unknown = Reflect.get(globalThis, 'reportViolation');
      const text = `policy: ${event.effectiveDirective} ${event.blockedURI}`;
      if (typeof report === 'function') void report(text);
    });
  });
});

/** Opens the page and waits until the digit network reads what the pen writes by itself. */
async function openPage(page: Page, search = ''): Promise<void> {
  await page.goto(`/${search}#draw`);
  await expect(page.locator('#answer-text')).toContainText('Looks like a');
  await expect(page.locator('#device-switch')).toContainText('Running on');
}

/** Draws strokes, in a box of 100 x 100, in the middle of the pad. */
async function drawWithMouse(page: Page, strokes: readonly (readonly Point[])[]): Promise<void> {
  const box = await page.locator('#pad').boundingBox();
  if (box === null) throw new Error('the pad is not visible');
  const scale = (0.62 * box.width) / 100;
  const place = ({ x, y }: Point): [number, number] => [
    box.x + box.width / 2 + (x - 50) * scale,
    box.y + box.height / 2 + (y - 50) * scale,
  ];
  for (const stroke of strokes) {
    const [first, ...rest] = stroke;
    if (first === undefined) continue;
    await page.mouse.move(...place(first));
    await page.mouse.down();
    for (const point of rest) await page.mouse.move(...place(point));
    await page.mouse.up();
  }
}

/** A number that changes with any pixel of a canvas. */
function canvasSum(page: Page, selector: string): Promise<number> {
  return page.locator(selector).evaluate((canvas) => {
    if (!(canvas instanceof HTMLCanvasElement)) throw new Error('not a canvas');
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    let sum = 0;
    for (const [index, value] of (pixels ?? []).entries()) {
      sum = (sum * 31 + value * (index + 1)) % 1e9;
    }
    return sum;
  });
}

/** Addresses of all that a page and its workers fetch from now on. */
function addressesOf(page: Page): ReadonlySet<string> {
  const addresses = new Set<string>();
  page.context().on('request', (request) => addresses.add(request.url()));
  return addresses;
}

test('a program runs before anybody touches the page, of less than 200 KB', async ({
  page,
  request,
}) => {
  const requested = addressesOf(page);
  await page.goto('/');
  await expect(page.locator('#dish-facts')).toContainText(/Steps so far[1-9]/);
  const addresses = [...requested];
  const sizes = await Promise.all(
    addresses.map(async (address) => gzipSync(await (await request.get(address)).body()).length),
  );
  // The program, the code of the worker and that of its device must be among them.
  for (const part of ['reaction-diffusion.weft', 'worker-main', 'open-webgpu']) {
    expect(addresses.join('\n')).toContain(part);
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total, addresses.join('\n')).toBeLessThan(200 * 1024);
  const seen = await canvasSum(page, '#dish');
  await expect.poll(() => canvasSum(page, '#dish')).not.toBe(seen);
});

test.describe('Draw', () => {
  test('writes by itself until it is stopped', async ({ page }) => {
    await openPage(page);
    const seen = await canvasSum(page, '#pad');
    await expect.poll(() => canvasSum(page, '#pad')).not.toBe(seen);
    await page.getByRole('button', { name: 'Stop the pen' }).click();
    const stopped = await canvasSum(page, '#pad');
    await page.waitForTimeout(300);
    expect(await canvasSum(page, '#pad')).toBe(stopped);
  });

  test('shows a digit that is written already to those who want no motion', async ({ page }) => {
    // The driver of Firefox emulates no such wish.
    await page.addInitScript(() => {
      const ask = globalThis.matchMedia.bind(globalThis);
      globalThis.matchMedia = (query) =>
        ask(query.includes('prefers-reduced-motion') ? 'all' : query);
    });
    await openPage(page);
    const seen = await canvasSum(page, '#pad');
    await page.waitForTimeout(500);
    expect(await canvasSum(page, '#pad')).toBe(seen);
    await expect(page.getByRole('button', { name: 'Write by itself' })).toBeVisible();
  });

  test('names digits that are drawn with the mouse', async ({ page }) => {
    await openPage(page);
    for (let digit = 0; digit < 10; digit++) {
      await drawWithMouse(page, neatDigit(digit));
      await expect(page.locator('#answer'), `a drawn ${digit}`).toHaveText(String(digit));
      await expect(page.locator('.bar[data-best]')).toHaveText(new RegExp(`^${digit}`));
      await page.getByRole('button', { name: 'Clear' }).click();
      await expect(page.locator('#answer')).toHaveText('–');
    }
  });

  test('shows what the machine did', async ({ page }) => {
    await openPage(page);
    await page.getByRole('button', { name: 'Write a 3' }).click();
    const machine = page.getByRole('complementary', { name: 'What runs where' });
    await expect(machine.getByRole('list', { name: 'Kernels' }).first()).toContainText('conv2d');
    await expect(machine).toContainText('Memory');
    await machine.getByText('Bytecode').click();
    await expect(machine.locator('.listing')).toContainText('func main(image');
    await expect(machine.locator('.listing')).not.toContainText('call vm.builtin.kill');
    await expect(page.locator('[data-node="worker"] [data-detail]')).toHaveText(/\d+ instructions/);
    await expect(page.locator('[data-node="device"] [data-detail]')).toHaveText(/\d+ kernels/);
    await expect(page.locator('[data-node="device"] [data-place]')).toHaveText('WebGPU');
  });

  test('works by keyboard and speaks', async ({ page }) => {
    await openPage(page);
    await page.locator('#pad').focus();
    await page.keyboard.press('Space');
    for (let i = 0; i < 11; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await expect(page.locator('#answer')).toHaveText('1');
    await expect(page.locator('#live[role="status"]')).toContainText('Looks like a 1');
    await page.keyboard.press('Escape');
    await expect(page.locator('#answer')).toHaveText('–');
  });

  test('takes back a stroke', async ({ page }) => {
    await openPage(page);
    const one: Point[] = [
      { x: 50, y: 0 },
      { x: 50, y: 100 },
    ];
    await drawWithMouse(page, [one]);
    await expect(page.locator('#answer')).toHaveText('1');
    const before = await canvasSum(page, '#preview');
    await drawWithMouse(page, [one.map(({ x, y }) => ({ x: x + 40, y }))]);
    await expect.poll(() => canvasSum(page, '#preview')).not.toBe(before);
    await page.getByRole('button', { name: 'Undo stroke' }).click();
    await expect.poll(() => canvasSum(page, '#preview')).toBe(before);
  });

  test('runs on the host device when the address asks for it', async ({ page }) => {
    await openPage(page, '?device=host');
    await page.getByRole('button', { name: 'Write a 7' }).click();
    await expect(page.locator('#answer')).toHaveText('7');
    await expect(page.locator('[data-node="device"] [data-name]')).toHaveText('Host device');
    await expect(page.locator('#notice')).toBeHidden();
  });

  test('runs in WebAssembly when the address asks for it', async ({ page }) => {
    await openPage(page, '?device=wasm');
    await page.getByRole('button', { name: 'Write a 7' }).click();
    await expect(page.locator('#answer')).toHaveText('7');
    await expect(page.locator('[data-node="device"] [data-name]')).toHaveText('WebAssembly');
    await expect(page.locator('#notice')).toBeHidden();
  });

  test('fits a phone', async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await openPage(page);
    await page.getByRole('button', { name: 'Write a 4' }).click();
    await expect(page.locator('#machine')).toContainText('softmax');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(360);
  });

  test('keeps everything in its card, whatever the width', async ({ page }) => {
    await openPage(page);
    for (const width of [400, 730, 941, 1081, 1100, 1280, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      const outside = await page.locator('#draw').evaluate((card) => {
        const { right } = card.getBoundingClientRect();
        const inside = [...card.querySelectorAll('*')];
        return inside.filter((element) => element.getBoundingClientRect().right > right + 1).length;
      });
      expect(outside, `at ${width} pixels`).toBe(0);
    }
  });
});

test.describe('Simulate', () => {
  test('steps on the device and paints', async ({ page }) => {
    await page.goto('/#train');
    await page.getByRole('tab', { name: 'Train' }).focus();
    await page.keyboard.press('Home');
    await expect(page.getByRole('tab', { name: 'Simulate' })).toBeFocused();
    const facts = page.locator('#dish-facts');
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect(facts).toContainText('Steps so far');
    await page.getByRole('button', { name: 'Reset' }).click();
    await expect(facts).toContainText('Steps so far0');
    const before = await canvasSum(page, '#dish');
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await expect(facts).toContainText('Steps so far8');
    expect(await canvasSum(page, '#dish')).not.toBe(before);
    const row = page.locator('.kernels li', { hasText: 'diffuse_and_grow' });
    await expect(row.locator('.kernel-time')).toContainText('×8');
    await page.locator('#dish').focus();
    const stepped = await canvasSum(page, '#dish');
    await page.keyboard.press('Enter');
    await expect.poll(() => canvasSum(page, '#dish')).not.toBe(stepped);
    await expect(facts).toContainText('Steps so far8');
  });
});

test('goes on with a simulation whose tab was closed', async ({ context }) => {
  const openDish = async (search = ''): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`/${search}`);
    await page.getByRole('tab', { name: 'Simulate' }).click();
    return page;
  };
  const stepsOf = async (page: Page): Promise<number> => {
    const text = (await page.locator('#dish-facts').textContent()) ?? '';
    return Number(/Steps so far([\d,]+?)(?:Went|Last)/.exec(text)?.[1]?.replaceAll(',', '') ?? 0);
  };
  const isKept = (page: Page): Promise<boolean> =>
    page.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      const snapshots = await root.getDirectoryHandle('weft-snapshots', { create: true });
      const kept = await snapshots.getDirectoryHandle('reaction-diffusion', { create: true });
      for await (const name of kept.keys()) if (name.endsWith('.commit')) return true;
      return false;
    });
  const first = await openDish();
  await first.locator('#dish-steps').fill('40');
  await expect.poll(() => stepsOf(first)).toBeGreaterThan(200);
  await expect.poll(() => isKept(first)).toBe(true);
  await first.close();

  // Also on another device.
  let before = 1;
  for (const search of ['', '?device=wasm', '?device=host']) {
    const page = await openDish(search);
    const facts = page.locator('#dish-facts');
    await expect(facts).toContainText('Went on at');
    const text = (await facts.textContent()) ?? '';
    const at = Number(/Went on atstep ([\d,]+?)Last/.exec(text)?.[1]?.replaceAll(',', ''));
    expect(at).toBeGreaterThanOrEqual(before);
    await expect.poll(() => stepsOf(page)).toBeGreaterThan(at);
    await expect(page.locator('#notice')).toBeHidden();
    before = at;
    await page.close();
  }
  const last = await openDish();
  await expect(last.locator('#dish-facts')).toContainText('Went on at');
  await last.getByRole('button', { name: 'Reset' }).click();
  await expect(last.locator('#dish-facts')).not.toContainText('Went on at');
  await last.close();
});

test('looks inside the program that runs', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Look inside' }).click();
  const inside = page.getByRole('dialog', { name: 'Inspector' });
  await expect(
    inside.getByRole('application', { name: /^Graph of main: \d+ nodes$/ }),
  ).toBeVisible();
  await inside.getByRole('tab', { name: 'Code' }).click();
  await expect(inside.getByRole('option', { name: /diffuse_and_grow/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(inside).toBeHidden();
});

test('moves a running simulation to another tab, where it goes on', async ({ page, context }) => {
  await page.goto('/');
  const facts = page.locator('#dish-facts');
  await expect(facts).toContainText(/Steps so far[\d,]{3}/);
  const opening = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Move to another tab' }).click();
  const other = await opening;
  await expect(facts).toContainText('The simulation continues in the other tab.');
  await expect(page.getByRole('button', { name: 'Play' })).toBeDisabled();
  const text = (await other.locator('#dish-facts').textContent()) ?? '';
  const at = Number(/Went on atstep ([\d,]+?)Last/.exec(text)?.[1]?.replaceAll(',', ''));
  expect(at).toBeGreaterThan(99);
  const seen = await canvasSum(other, '#dish');
  await expect.poll(() => canvasSum(other, '#dish')).not.toBe(seen);
  expect(new URL(other.url()).search).toBe('');
  await expect(other.locator('#notice')).toBeHidden();
  await other.close();
});

test('reads a drawn receipt with PP-OCRv4', async ({ page }) => {
  await page.goto('/#picture-panel');
  await page.getByRole('button', { name: 'Read it' }).click();
  const lines = page.getByRole('list', { name: 'Lines that were read' });
  await expect(lines).toContainText('TOTAL', { timeout: 90_000 });
  await expect(lines).toContainText('27.05');
  await expect(page.locator('#picture-panel .snippet code')).toContainText("from 'weft-vm/tasks'");
  await expectMachine(page, 'PP-OCRv4, lines');
});

/** The diagram and the facts are those of a program that a section loaded by itself. */
async function expectMachine(page: Page, title: string): Promise<void> {
  await expect(page.locator('#machine-title')).toHaveText(title);
  await expect(page.locator('#flow')).not.toContainText('Chosen with the program');
  await expect(page.locator('#flow')).toContainText('round trip');
  await expect(page.getByRole('button', { name: 'Look inside' })).toBeEnabled();
}

test('hears two phrases in the recording of its own making', async ({ page }) => {
  await page.goto('/#voice-panel');
  await page.getByRole('button', { name: 'Play the recording' }).click();
  await expect(page.locator('#voice-status')).toContainText('2 stretches of speech in 5.');
  await expect(page.locator('#voice-facts')).toContainText('Stretches of speech2');
  await expect(page.locator('#flow')).not.toContainText('Chosen with the program');
  await expect(page.getByRole('button', { name: 'Look inside' })).toBeEnabled();
});

/** Fails where axe finds something in the page, or it is wider than a phone or a large screen. */
async function expectAccessible(page: Page, where: string, part = ':root'): Promise<void> {
  for (const width of [360, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    const found = await page.evaluate(async (selector) => {
      const { axe } = globalThis as unknown as { axe: typeof Axe };
      const { violations } = await axe.run(selector);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`);
    }, part);
    expect(found, `${where} at ${width} pixels`).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide, where).toBeLessThanOrEqual(width);
  }
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nothing is wrong with any section for axe-core, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto('/');
    await page.evaluate(AXE);
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      const panel = (await tab.getAttribute('aria-controls')) ?? '';
      await expect(page.locator(`#${panel}`)).toBeVisible();
      await expectAccessible(page, panel);
    }
  });
}

test.describe('Any model', () => {
  const openModels = async (page: Page): Promise<void> => {
    await page.goto('/#model');
    await expect(page.locator('#cards h3').first()).toBeVisible();
  };
  const give = (page: Page, name: string, buffer: Buffer): Promise<void> =>
    page.locator('#file').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
  const run = (page: Page): Promise<void> =>
    page.getByRole('button', { name: 'Run', exact: true }).click();

  test('lists examples, answers for each, and runs it', async ({ page }) => {
    await openModels(page);
    const titles = [
      'Handwritten digits',
      'Detector',
      'Decoder',
      'Reaction-diffusion',
      'Sum of a list',
    ];
    await expect(page.locator('#cards h3')).toHaveText(titles);
    for (const title of titles) {
      await page.getByRole('button', { name: `Open ${title}` }).click();
      await expect(page.locator('#model-answer .verdict')).toContainText('Yes, on WebGPU');
      await expect(page.locator('#model-run h2')).toContainText('Loaded on');
      await run(page);
      await expect(page.locator('#model-run .status')).toContainText('It took');
      await expect(page.locator('#model-run table')).toContainText('float32');
    }
  });

  test('answers from the head of a file, then reads a drawn picture', async ({ page }) => {
    await openModels(page);
    await give(page, 'digits.onnx', readFileSync('models/digits/model.onnx'));
    await expect(page.locator('#model-answer .verdict')).toHaveText(
      'Will it run here? Yes, on WebGPU.',
    );
    const facts = page.locator('#model-answer .facts');
    await expect(facts).toContainText('ONNX model');
    await expect(facts).toContainText('image: float [1, 1, 28, 28]');
    await expect(facts).toContainText('Conv ×2');
    await expect(facts).toContainText(/ms a run on .*measured: .* GFLOP\/s/);
    await expect(page.getByLabel('image', { exact: true })).toHaveValue('A drawn picture');
    await run(page);
    const best = page
      .getByRole('list', { name: 'Likeliest in probabilities' })
      .locator('li')
      .first();
    await expect(best).toContainText('3');
    await page.getByLabel('Labels').setInputFiles({
      name: 'labels.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n'),
    });
    await run(page);
    await expect(best).toContainText('three');
    await expectMachine(page, 'digits.onnx');
    await page.getByRole('button', { name: 'Look inside' }).click();
    await page.getByRole('tab', { name: 'Passes' }).click();
    await page.getByRole('button', { name: 'Compile and watch' }).click();
    await expect(page.getByRole('option', { name: /^fuse/ })).toBeVisible();
  });

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

  test('takes a text where a tokenizer comes with the model, and names its classes', async ({
    page,
    browserName,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await openModels(page);
    const files = [
      json('config.json', BERT_CONFIG),
      bert(),
      json('tokenizer.json', BERT_TOKENIZER),
    ];
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
    await openModels(page);
    await page.locator('#file').setInputFiles(bert(10));
    const note = page.locator('.inputs .status');
    await expect(note).toContainText('A text needs the tokenizer.json of this model');
    const ids = page.getByLabel('input_ids', { exact: true });
    await expect(ids).toHaveValue('Random');
    await run(page);
    // Elements of a vector are no scores of classes.
    await expect(page.locator('#model-run table')).toContainText('pooler_output');
    await expect(page.locator('#model-run h3')).toHaveText(['Likeliest in logits']);
    await ids.selectOption('A text');
    await run(page);
    await expect(page.locator('#model-run > .status')).toContainText('got no tokenizer');
    const field = page.getByLabel('tokenizer.json', { exact: true });
    await field.setInputFiles(json('notes.json', []));
    await expect(note).toContainText('expected a tokenizer');
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
      await page.context().route(`${folder}${name}`, (route) => route.fulfill({ body }));
    }
    await openModels(page);
    await page.getByLabel('Or its address').fill(`${folder}onnx/model.onnx`);
    await page.getByRole('button', { name: 'Ask' }).click();
    await expect(page.getByLabel('input_ids', { exact: true })).toHaveValue('A text');
    await run(page);
    await expect(page.getByRole('list', { name: 'Likeliest in logits' })).toContainText('night');
  });

  test('is asked by an address of this site, and takes numbers', async ({ page }) => {
    await openModels(page);
    await page.getByLabel('Or its address').fill('models/list-sum.weft');
    await page.getByRole('button', { name: 'Ask' }).click();
    await expect(page.locator('#model-run h2')).toContainText('Loaded on');
    // In Firefox `fill` selects nothing in a number field, so that it would add to what is there.
    await page.getByLabel('n', { exact: true }).fill('');
    await page.getByLabel('n', { exact: true }).fill('5');
    await run(page);
    const row = page.locator('.kernels li', { hasText: 'add' });
    await expect(row.locator('.kernel-time')).toContainText('×10');
  });

  test('names operators that Weft does not have, before anything is loaded', async ({ page }) => {
    await openModels(page);
    await give(page, 'strange.onnx', Buffer.from(reluModel('Frobnicate')));
    await expect(page.locator('#model-answer .verdict')).toContainText('Will it run here? No.');
    await expect(page.locator('#model-answer .verdict')).toContainText('Frobnicate');
    await expect(page.locator('#model-run')).toBeHidden();
  });

  test('compares devices, and onnxruntime-web when asked to', async ({ page }) => {
    await openModels(page);
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
    await openModels(page);
    await give(page, 'notes.weft', Buffer.from('This is no executable. '.repeat(20)));
    await expect(page.locator('#model-answer .status[data-kind="error"]')).toContainText(
      'expected an ONNX model, a GGUF file or a Weft executable',
    );
    await page.getByRole('button', { name: 'Open Sum of a list' }).click();
    await expect(page.locator('#model-answer h2')).toHaveText('list-sum.weft');
  });
});

test('writes a story, stops, goes on after a reload with the same words, and answers in JSON', async ({
  page,
}) => {
  const [text, write] = [page.locator('#story-text'), page.locator('#story-write')];
  const facts = page.locator('#story-facts');
  await page.goto('/#story');
  await expect(write).toBeEnabled();
  const kept = { prompt: 'Mia went to the park. Tom', written: '', seed: 4, isOver: false };
  const open = async (story: object): Promise<void> => {
    await page.evaluate(
      (given) => localStorage.setItem('weft-story', JSON.stringify(given)),
      story,
    );
    await page.reload();
    await expect(write).toBeEnabled();
    await expect(write).not.toHaveText('Stop');
  };
  await open(kept);
  await write.click();
  await expect(facts).toContainText('a second');
  const whole = (await text.textContent()) ?? '';
  expect(whole.length).toBeGreaterThan(kept.prompt.length + 10);

  // As it was left after some words.
  const written = whole.slice(kept.prompt.length, kept.prompt.length + 6).replace(/\S*$/, '');
  await open({ ...kept, written: written.trimEnd() });
  await expect(write).toHaveText(written.trim() === '' ? 'Write' : 'Go on');
  await write.click();
  await expect(facts).toContainText('a second');
  await expect(text).toHaveText(whole);

  await page.locator('#story-json').check();
  await page.locator('#story-again').click();
  await expect(text).toContainText('}');
  const answer: unknown = JSON.parse(((await text.textContent()) ?? '').slice(kept.prompt.length));
  expect(Object.keys(answer as object)).toEqual(['who', 'where']);
});
