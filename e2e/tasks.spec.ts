import { readFileSync } from 'node:fs';
import { HAND_MODELS } from '../src/tasks/testing/live-models.ts';
import { COLOURS } from '../src/tasks/testing/colours-model.ts';
import { COLOUR_CLASSES, lightnessModel } from '../src/tasks/testing/segmentation-models.ts';
import { expect, testOfPage as test } from './fixtures.ts';
import type { TasksPage } from './pages/tasks.ts';

declare const weftTasks: TasksPage;

/** 8 by 8 pixels of #00ff33. */
const GREEN_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEElEQVR42mNg+G+MHQ0tCQDXu0yBeZqWkQAAAABJRU5ErkJggg==';

test.use({ address: '/e2e/pages/tasks.html' });

test('a picture in any form gives the same elements', async ({ page }) => {
  const differences = await page.evaluate(() => weftTasks.differences());
  const { VideoFrame: frame = 0, ...others } = differences;
  expect(others).toEqual({
    ImageBitmap: 0,
    OffscreenCanvas: 0,
    HTMLCanvasElement: 0,
    Blob: 0,
  });
  // A frame of a video may go through another space of colours.
  expect(frame).toBeLessThanOrEqual(1);
});

test('a model in the worker says what is on a canvas', async ({ page }) => {
  const found = await page.evaluate(
    (model) => weftTasks.classify(model, '#00ff33'),
    Array.from(COLOURS),
  );
  expect(found.map(({ label }) => label)).toEqual(['green']);
});

test('pixels of a canvas have classes, and its background becomes transparent', async ({
  page,
}) => {
  const segments = await page.evaluate((model) => weftTasks.segment(model), [...COLOUR_CLASSES]);
  expect(segments).toEqual([
    ['blue', 0.75],
    ['red', 0.25],
  ]);
  const alpha = await page.evaluate((model) => weftTasks.cutOut(model), [...lightnessModel()]);
  // Pillow's bilinear between the squares that are black and those that are white.
  expect(alpha).toEqual([0, 0, 0, 0, 0, 64, 191, 255, 255, 255, 255, 255]);
});

test('what is no picture is refused by what it is', async ({ page }) => {
  expect(await page.evaluate(() => weftTasks.failure('image'))).toBe(
    'UsageError: picture: got a picture of 0 x 0, expected one with pixels. Wait until the image or video has loaded.',
  );
  expect(await page.evaluate(() => weftTasks.failure('file'))).toBe(
    'UsageError: picture: got a file of 10 bytes of the type "", expected a picture that this browser reads.',
  );
  await page.route('/no/cat.png', (route) => route.fulfill({ status: 404 }));
  expect(await page.evaluate(() => weftTasks.failure('address'))).toBe(
    'DownloadError: /no/cat.png: got the status 404, expected a picture.',
  );
  expect(await page.evaluate(() => weftTasks.failure('list'))).toMatch(
    /^UsageError: picture: got Array, expected an ImageBitmap, a VideoFrame, /,
  );
});

test('a hand is followed on a canvas and in its stream, and drawn', async ({ page }) => {
  const models = [HAND_MODELS.detector, HAND_MODELS.landmarks].map((bytes) =>
    Buffer.from(bytes).toString('base64'),
  );
  const { wrists, drawn } = await page.evaluate(
    ([detector = '', landmarks = '']) => weftTasks.followed([detector, landmarks]),
    models,
  );
  // By the first frame from the palm, then from the hand itself.
  const [first, ...others] = wrists['canvas'] ?? [];
  expect(first).toEqual([32, 25]);
  expect(others).toHaveLength(2);
  for (const [x] of others) expect(x).toBe(32);
  expect(wrists['stream'] ?? wrists['canvas']).toEqual(wrists['canvas']);
  expect(drawn).toBeGreaterThan(10);
});

test('the first example of the README runs as it stands', async ({ page }) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const example = /```ts[^\n]*\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const [imports, ...lines] = example.split('\n');
  expect(imports).toBe("import { imageClassifier } from 'weft-vm/tasks';");
  const files = {
    '/models/mobilenet/onnx/model.onnx': Buffer.from(COLOURS),
    '/models/mobilenet/config.json': JSON.stringify({ id2label: ['red', 'green', 'blue'] }),
    '/photo.jpg': Buffer.from(GREEN_PNG, 'base64'),
  };
  await page.route('**/models/mobilenet/**', (route) => route.fulfill({ status: 404 }));
  for (const [path, body] of Object.entries(files)) {
    await page.route(`**${path}`, (route) => route.fulfill({ body }));
  }
  const body = [
    'const { imageClassifier } = weftTasks;',
    'const logged = [];',
    'const console = { log: (...values) => logged.push(...values) };',
    ...lines,
    'await classifier.dispose();',
    'return logged;',
  ].join('\n');
  const [label, score] = await page.evaluate<[string, number]>(`(async () => { ${body} })()`);
  expect(label).toBe('green');
  expect(score).toBeGreaterThan(0.9);
});
