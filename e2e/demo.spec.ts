import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import type { Point } from '../src/demo/digits/rasterize-drawing.ts';
import { neatDigit } from '../src/demo/digits/write-digit.ts';
import { expect, test } from './fixtures.ts';
import { reluModel } from './relu-model.ts';

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

/** Opens the page and waits until the digit network is loaded. */
async function openPage(page: Page, search = ''): Promise<void> {
  await page.goto(`/${search}`);
  await expect(page.locator('#answer-text')).toHaveText('Draw a digit.');
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

test.describe('Draw', () => {
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
    const machine = page.getByRole('complementary', { name: 'What the machine did' });
    await expect(machine.locator('.listing-line[data-kernel]').first()).toBeVisible();
    await expect(machine.locator('.kernels')).toContainText('softmax');
    await expect(machine).toContainText('func main(image');
    await expect(machine).toContainText('Memory');
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
    await expect(page.locator('.kernels')).toContainText('softmax');
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
    await openPage(page);
    await page.getByRole('tab', { name: 'Draw' }).focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
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
    const row = page.locator('.kernels tr', { hasText: 'diffuse_and_grow' });
    await expect(row.locator('td').nth(2)).toHaveText('8');
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

test.describe('Gallery', () => {
  test('lists the executables and opens each', async ({ page }) => {
    await openPage(page);
    await page.getByRole('tab', { name: 'Gallery' }).click();
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
      await expect(page.locator('#inspector h2')).toHaveText(/\.weft$/);
      await page.getByRole('button', { name: 'Run on random input' }).click();
      await expect(page.locator('#inspector .status')).toContainText('First run');
      await expect(page.locator('#inspector table').last()).toContainText('float32');
    }
  });

  test('loads a .weft file and runs it', async ({ page }) => {
    await openPage(page);
    await page.getByRole('tab', { name: 'Gallery' }).click();
    await page.locator('#file').setInputFiles({
      name: 'mine.weft',
      mimeType: 'application/octet-stream',
      buffer: readFileSync('public/models/list-sum.weft'),
    });
    await expect(page.locator('#inspector h2')).toHaveText('mine.weft');
    await expect(page.locator('#inspector')).toContainText('Functions: main');
    // In Firefox `fill` selects nothing in a number field, so that it would add to what is there.
    await page.getByLabel('n', { exact: true }).fill('');
    await page.getByLabel('n', { exact: true }).fill('5');
    await page.getByRole('button', { name: 'Run on random input' }).click();
    await expect(page.locator('#inspector .status')).toContainText('First run');
    await expect(page.locator('.kernels tr', { hasText: 'add' }).locator('td').nth(2)).toHaveText(
      '10',
    );
  });

  test('compiles an .onnx file in the worker', async ({ page }) => {
    await openPage(page);
    await page.getByRole('tab', { name: 'Gallery' }).click();
    await page.locator('#file').setInputFiles({
      name: 'relu.onnx',
      mimeType: 'application/octet-stream',
      buffer: reluModel(),
    });
    await expect(page.locator('#inspector table').first()).toContainText('[1, 4]');
    await page.getByRole('button', { name: 'Run on random input' }).click();
    await expect(page.locator('#inspector table').last()).toContainText('float32 [1, 4]');
  });

  test('says what is wrong with a file that is no model', async ({ page }) => {
    await openPage(page);
    await page.getByRole('tab', { name: 'Gallery' }).click();
    await page.locator('#file').setInputFiles({
      name: 'notes.weft',
      mimeType: 'text/plain',
      buffer: Buffer.from('This is no executable. '.repeat(20)),
    });
    await expect(page.locator('#inspector .status[data-kind="error"]')).toContainText(
      'FormatError',
    );
    await page.getByRole('button', { name: 'Open Sum of a list' }).click();
    await expect(page.locator('#inspector h2')).toHaveText('list-sum.weft');
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
