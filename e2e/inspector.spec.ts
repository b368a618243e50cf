import { expect, test } from './fixtures.ts';
import type { InspectorPage } from './pages/inspector.ts';
import { reluModel } from './relu-model.ts';

declare const weftInspector: InspectorPage;

test.beforeEach(async ({ page }) => {
  await page.goto('/e2e/pages/inspector.html');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
});

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

test('a session is run, timed and compared, and its kernels lead back to the graph', async ({
  page,
  browserName,
}) => {
  await page.evaluate(() => weftInspector.showSession(13, 'host'));
  await page.getByRole('tab', { name: 'Run' }).click();
  await page.getByRole('button', { name: 'Run on random input' }).click();
  const status = page.getByRole('status');
  await expect(status).toHaveText(/^13 kernels launched in /);
  await expect(page.getByRole('row', { name: /^add 2/ })).toBeVisible();
  // The driver of Firefox reports no download of a blob: what the link would save is read in either browser.
  const saved = await page.evaluateHandle(watchDownload);
  const download = browserName === 'chromium' ? page.waitForEvent('download') : undefined;
  await page.getByRole('button', { name: 'Export trace' }).click();
  const { name, text } = await page.evaluate(({ file }) => file, saved);
  expect(name).toBe('weft-trace.json');
  expect(JSON.parse(text)).toMatchObject({ traceEvents: expect.any(Array) });
  if (download !== undefined) expect((await download).suggestedFilename()).toBe(name);
  await page.getByRole('button', { name: 'Compare with the host' }).click();
  await expect(status).toHaveText('No value departs, in 13 calls of kernels.');
  await page.getByRole('button', { name: 'add', exact: true }).click();
  await expect(page.getByRole('status')).toHaveText(/^add1, kernel, add/);
});

test('bytes that are no program are refused in words', async ({ page }) => {
  expect(await page.evaluate(() => weftInspector.failure())).toContain('FormatError');
  await expect(page.getByRole('status')).toContainText('FormatError');
});

/** In the page: the next file that a link saves. */
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
