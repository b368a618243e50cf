import type { Page } from '@playwright/test';
import { AXE, violationsOf } from './demo-page.ts';
import { expect, testOfPage as test } from './fixtures.ts';
import type { InspectorPage } from './pages/inspector.ts';
import { reluModel } from '../src/testing/relu-model.ts';

declare const weftInspector: InspectorPage;

/** Complaints of axe-core about the inspector. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return violationsOf(page, 'weft-inspector');
}

test.use({ address: '/e2e/pages/inspector.html' });

test.beforeEach(({ page }) => page.evaluate(() => weftInspector.begin()));

test('a deep program is a graph of which only what is in sight is drawn', async ({ page }) => {
  const { nodes } = await page.evaluate(() => weftInspector.showDeep(600));
  expect(nodes).toBeGreaterThan(600);
  const { mostNodes } = await page.evaluate(() => weftInspector.pan(20, false));
  expect(mostNodes).toBeGreaterThan(0);
  expect(mostNodes).toBeLessThan(100);
});

test('nodes are found, chosen and left with the keyboard', async ({ page }) => {
  await page.evaluate(() => weftInspector.showDeep(60));
  const status = page.getByRole('status');
  await page.getByRole('searchbox').fill('layers.1 scores');
  await expect(status).toHaveText('1 node found');
  await page.getByRole('searchbox').press('Enter');
  await expect(status).toHaveText('scores, kernel, matmul, Tensor[(8, 8), float32]');
  const graph = page.getByRole('application');
  await graph.press('ArrowDown');
  await expect(status).toHaveText('weights, kernel, softmax, Tensor[(8, 8), float32]');
  await graph.press('ArrowUp');
  await graph.press('ArrowUp');
  await expect(status).toHaveText(/^(query|key), kernel/);
  await graph.press('Escape');
  await expect(status).toHaveText('');
});

test('a scope becomes one node, and its nodes again', async ({ page }) => {
  await page.evaluate(() => weftInspector.showDeep(60));
  const scope = page.getByRole('button', { name: 'layers.2 (13)' });
  await scope.click();
  await expect(page.getByRole('status')).toHaveText('layers.2 collapsed');
  await expect(scope).toHaveAttribute('aria-expanded', 'false');
  await scope.click();
  await expect(page.getByRole('status')).toHaveText('layers.2 expanded');
});

test('a session in its worker is shown with its device', async ({ page }) => {
  expect(await page.evaluate(() => weftInspector.showSession(13, 'host'))).toBe('host');
  await expect(page.getByText(/^4 kernels, 0 B of constants, on host$/)).toBeVisible();
  await expect(page.getByRole('application', { name: 'Graph of main: 15 nodes' })).toBeVisible();
});

test('source, bytecode and kernel of a line are marked together', async ({ page }) => {
  await page.evaluate(() => weftInspector.showDeep(60));
  await page.getByRole('tab', { name: 'Graph' }).press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Code' })).toBeFocused();
  await page.getByRole('option', { name: 'node "/layers.0/attention/scores"' }).click();
  const line = page.getByRole('option', { name: /^14: call matmul/ });
  await expect(line).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('region', { name: 'Kernel' })).toContainText('primitive matmul');
  await page.getByRole('tab', { name: 'Graph' }).click();
  await expect(page.getByRole('status')).toHaveText(/^scores, kernel, matmul/);
});

test('the code of a kernel is asked for from its node and from its line', async ({ page }) => {
  await page.evaluate(() => weftInspector.showSession(13, 'host'));
  await page.getByRole('searchbox').fill('scores');
  await page.getByRole('searchbox').press('Enter');
  const code = page.getByRole('option', { name: '%2 = reference matmul(%0, %1)' });
  await page.locator('#graph summary').click();
  await expect(code).toBeVisible();
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.locator('#code summary').click();
  await expect(code).toBeVisible();
  await page.getByRole('option', { name: /^\s*2: call softmax/ }).click();
  await expect(page.getByRole('option', { name: /= reference softmax\(%0\)/ })).toBeVisible();
});

test('passes of the compiler are watched, and their lines lead to nodes', async ({ page }) => {
  await page.evaluate((bytes) => weftInspector.showModel(bytes), [...reluModel()]);
  await page.getByRole('tab', { name: 'Passes' }).click();
  await page.getByRole('button', { name: 'Compile and watch' }).click();
  await page.getByRole('option', { name: /^fuse/ }).click();
  await expect(page.getByRole('option', { name: /^\+ .*primitive=/ }).first()).toBeVisible();
  await page.getByRole('option', { name: /^source/ }).click();
  // The source has no difference to anything before it.
  await expect(page.getByRole('option', { name: /^[+-] / })).toHaveCount(0);
  await page.getByRole('option', { name: /relu\(/ }).click();
  await page.getByRole('tab', { name: 'Graph' }).click();
  await expect(page.getByRole('status')).toHaveText(/^relu_0, kernel, relu/);
});

test('memory is drawn over the instructions, and what holds the peak leads to nodes', async ({
  page,
}) => {
  await page.evaluate(() => weftInspector.showDeep(60));
  await page.getByRole('tab', { name: 'Memory' }).click();
  const drawing = page.getByRole('img', { name: /^Memory of main: at most \d/ });
  await expect(drawing).toBeVisible();
  const held = page.getByRole('button', { name: /^256 B, layers\.\d\// }).first();
  await held.click();
  await expect(held).toHaveAttribute('aria-pressed', 'true');
  const name = (await held.textContent())?.trim().split('/').at(-1);
  await page.getByRole('tab', { name: 'Graph' }).click();
  await expect(page.getByRole('status')).toHaveText(new RegExp(`^${name}, kernel`));
});

/** A session in its worker, and one on a device that is lent. */
const SESSIONS = {
  'a session': () => weftInspector.showSession(13, 'host'),
  'a session on a lent device': () => weftInspector.showLent(13, 'webgpu'),
};

for (const [name, show] of Object.entries(SESSIONS)) {
  test(`${name} is run, timed and compared, and its kernels lead back to the graph`, async ({
    page,
  }) => {
    await page.evaluate(show);
    await page.getByRole('tab', { name: 'Run' }).click();
    await page.getByRole('button', { name: 'Run on random input' }).click();
    const status = page.getByRole('status');
    await expect(status).toHaveText(/^13 kernels launched in /);
    await expect(page.getByRole('row', { name: /^add 2/ })).toBeVisible();
    await page.getByRole('button', { name: 'Compare with the host' }).click();
    await expect(status).toHaveText('No value departs, in 13 calls of kernels.');
    await page.getByRole('button', { name: 'add', exact: true }).click();
    await expect(page.getByRole('status')).toHaveText(/^add1, kernel, add/);
  });
}

test('runs are recorded over time, with advice, and their events lead back to the graph', async ({
  page,
  browserName,
}) => {
  await page.evaluate(() => weftInspector.showSession(26, 'webgpu'));
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByLabel('Runs').fill('3');
  await page.getByRole('button', { name: 'Record on random input' }).click();
  const status = page.getByRole('status');
  await expect(status).toHaveText(/^\d+ instructions and 26 kernels in /);
  const drawing = page.getByRole('application', { name: /^Timeline of .* ms: \d+ events$/ });
  await expect(drawing).toBeVisible();
  // The kernels with their work, and what they could reach here.
  const row = page.getByRole('row', { name: /^matmul 6 / });
  await expect(row).toContainText(/FLOP\/s/);
  await expect(row).toContainText(/ to .*%/s);
  await expect(page.getByText(/^Measured on this device: .*FLOP\/s in a product/)).toBeVisible();
  // Advice has its reason in numbers.
  const advice = page.getByRole('region', { name: 'What takes the time' });
  await expect(advice).toContainText(/ [\d.]+ ms of [\d.]+ ms \(\d+%\)/);
  // From event to event with keys: an upload is above the readback, an instruction above both.
  await drawing.focus();
  await drawing.press('ArrowRight');
  await expect(status).toHaveText(/^vm\.builtin\.\w+, instruction, .* ms from .* ms on\.$/);
  await drawing.press('ArrowDown');
  await expect(status).toHaveText(/, upload, 256 B, /);
  await drawing.press('Escape');
  await page.getByLabel('Show').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await drawing.press('Home');
  expect(await violations(page)).toEqual([]);
  // The load stands behind the runs: its phases, and each pipeline.
  await page.getByLabel('Show').selectOption('load');
  await expect(status).toHaveText(/^Loaded in [\d.]+ ms: \d+ events\.$/);
  await expect(advice).toBeHidden();
  await drawing.focus();
  await drawing.press('ArrowRight');
  await expect(status).toHaveText(/^program and weights, download, /);
  expect(await violations(page)).toEqual([]);
  await page.getByLabel('Show').selectOption({ index: 1 });
  // The driver of Firefox reports no download of a blob: what the link would save is read in either browser.
  const saved = await page.evaluateHandle(watchDownload);
  const download = browserName === 'chromium' ? page.waitForEvent('download') : undefined;
  await page.getByRole('button', { name: 'Export trace' }).click();
  const { name, text } = await page.evaluate(({ file }) => file, saved);
  expect(name).toBe('weft-trace.json');
  const { traceEvents } = JSON.parse(text);
  const lanes = traceEvents.filter((event: { name: string }) => event.name === 'thread_name');
  expect(lanes.map(({ args }: { args: { name: string } }) => args.name).slice(0, 4)).toEqual([
    'Instructions',
    'Uploads',
    'Kernels',
    'Readbacks',
  ]);
  if (download !== undefined) expect((await download).suggestedFilename()).toBe(name);
  await page
    .getByRole('button', { name: /^256 B, (softmax|tanh|matmul|add)/ })
    .first()
    .click();
  await expect(page.getByRole('tab', { name: 'Graph' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('status')).toHaveText(/, kernel, /);
});

for (const [name, show] of Object.entries(SESSIONS)) {
  test(`${name} is stepped forth and back with keys, and stops at what is marked`, async ({
    page,
  }) => {
    await page.evaluate(show);
    await page.getByRole('tab', { name: 'Step' }).click();
    const status = page.getByRole('status');
    await expect(status).toHaveText('Not running.');
    const into = page.getByRole('button', { name: 'Step into' });
    await into.press('F11');
    await expect(status).toHaveText('Stands before instruction 0 of main, after 0 instructions.');
    await page.keyboard.press('F11');
    await expect(status).toHaveText('Stands before instruction 1 of main, after 1 instruction.');
    // A click in the margin, and F9 on a line that was chosen.
    const line = page.getByRole('option', { name: /14: call matmul/ });
    await line.locator('.line-margin').click();
    const next = page.getByRole('option', { name: /15: / });
    await next.click();
    await next.press('F9');
    await expect(next).toHaveText(/^breakpoint, 15: /);
    await next.press('F9');
    await next.press('F5');
    await expect(status).toHaveText(
      'At a breakpoint before instruction 14 of main, after 14 instructions.',
    );
    await expect(line).toHaveAttribute('aria-selected', 'true');
    await expect(page.getByText('not written yet')).toHaveCount(1);
    await page.getByRole('button', { name: '%0 float32 tensor (8, 8)' }).click();
    await expect(page.getByRole('img', { name: /^Histogram from 0/ })).toBeVisible();
    await expect(page.getByRole('img', { name: 'The tensor as a picture, 8 by 8' })).toBeVisible();
    await page.keyboard.press('F8');
    await expect(status).toHaveText('Stands before instruction 13 of main, after 13 instructions.');
    await page.keyboard.press('F10');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await expect(page.getByRole('status')).toHaveText(/^scores, kernel, matmul/);
    await page.getByRole('tab', { name: 'Step' }).click();
    await page.getByRole('list', { name: 'Breakpoints' }).getByRole('button').click();
    await page.getByLabel('NaN').check();
    await into.press('F5');
    await expect(status).toHaveText(/^Ended after \d+ instructions\.$/);
    await into.press('Shift+F5');
    await expect(status).toHaveText('Stopped.');
  });
}

test('bytes that are no program are refused in words', async ({ page }) => {
  expect(await page.evaluate(() => weftInspector.failure())).toContain('FormatError');
  await expect(page.getByRole('status')).toContainText('FormatError');
});

/** Runs in the page: watches for the next file that a link saves. */
function watchDownload(): { readonly file: Promise<{ name: string; text: string }> } {
  const createObjectURL = URL.createObjectURL.bind(URL);
  const file = new Promise<{ name: string; text: string }>((resolve) => {
    URL.createObjectURL = (object) => {
      URL.createObjectURL = createObjectURL;
      const address = createObjectURL(object);
      HTMLAnchorElement.prototype.click = function click() {
        // The prototype's own method is that of all elements.
        delete (HTMLAnchorElement.prototype as Partial<HTMLAnchorElement>).click;
        this.click();
        const { href, download: name } = this;
        if (object instanceof Blob && href === address) {
          void object.text().then((text) => resolve({ name, text }));
        }
      };
      return address;
    };
  });
  return { file };
}
