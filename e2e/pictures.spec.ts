import { COLOURS } from '../src/tasks/testing/colours-model.ts';
import { DETECTION, RECOGNITION } from '../src/tasks/testing/colour-text-model.ts';
import { doubled, DOUBLED } from '../src/tasks/testing/doubled-model.ts';
import { lightnessModel } from '../src/tasks/testing/segmentation-models.ts';
import { expect, testOfPage } from './fixtures.ts';
import type { OwnDevicePage } from './pages/own-device.ts';
import type { TasksPage } from './pages/tasks.ts';

declare const weftTasks: TasksPage;
declare const weftOwnDevice: OwnDevicePage;

/** Without graphics hardware Chromium shows what WebGPU draws only where all its parts use one software adapter. */
const ONE_ADAPTER = [
  '--use-angle=swiftshader',
  '--use-vulkan=swiftshader',
  '--enable-features=Vulkan',
];

const test = testOfPage.extend<object, object>({
  launchOptions: [
    async ({ launchOptions, browserName }, use) => {
      const { args = [] } = launchOptions;
      const all = browserName === 'chromium' ? [...args, ...ONE_ADAPTER] : args;
      await use({ ...launchOptions, args: all });
    },
    { scope: 'worker' },
  ],
});

test.use({ address: '/e2e/pages/tasks.html' });

test.describe('results on a canvas', () => {
  for (const place of [
    { device: 'webgpu', worker: true },
    { device: 'webgpu', worker: false },
    { device: 'host', worker: true },
  ] as const) {
    test(`on ${place.device}${place.worker ? ' in the worker' : ''} are those that are read`, async ({
      page,
    }) => {
      const enlarged = await page.evaluate(
        ([model, where]) => weftTasks.drawEnlarged(model, where),
        [[...DOUBLED], place] as const,
      );
      expect(enlarged).toMatchObject({ readbacks: 0, width: 96 });
      // Elements are rounded by the GPU.
      expect(enlarged.most).toBeLessThanOrEqual(1);
      const cutOut = await page.evaluate(([model, where]) => weftTasks.drawCutOut(model, where), [
        [...lightnessModel()],
        place,
      ] as const);
      expect(cutOut).toMatchObject({ readbacks: 0, width: 12 });
      // The canvas resizes the mask, not as Pillow does.
      expect(cutOut.most).toBeLessThanOrEqual(64);
    });
  }
});

for (const worker of [true, false]) {
  test(`the GPU prepares pictures as the processor does${worker ? ', in the worker' : ''}`, async ({
    page,
  }) => {
    const { all, readbacks } = await page.evaluate(
      ([model, place]) => weftTasks.onDevice(model, place),
      [[...COLOURS], { device: 'webgpu', worker }] as const,
    );
    expect(readbacks).toBe(0);
    const { VideoFrame: frame = 0, ...others } = all;
    expect(others).toEqual({ ImageBitmap: 0, OffscreenCanvas: 0, HTMLCanvasElement: 0, Blob: 0 });
    // Elements of float16 count by their bits.
    expect(frame).toBeLessThanOrEqual(64);
  });
}

const MODELS = {
  colours: [...COLOURS],
  lightness: [...lightnessModel()],
  // In tiles.
  doubled: [...doubled({ shape: [1, 3, 64, 64] })],
  detection: [...DETECTION],
  recognition: [...RECOGNITION],
};

test.describe('where the policy lets WebAssembly compile', () => {
  test.use({ address: '/e2e/pages/tasks-wasm.html' });

  for (const device of ['wasm', 'host', 'webgpu'] as const) {
    test(`tasks on ${device} read no pixels in the thread of the page`, async ({ page }) => {
      const { results, inTasks, inThisThread } = await page.evaluate(
        ([models, place]) => weftTasks.whereRead(models, place),
        [MODELS, { device, worker: true }] as const,
      );
      expect(inTasks).toBe(0);
      // The count works: this thread's own `preparePictures` reads pixels once.
      expect(inThisThread).toBe(1);
      expect(results).toHaveLength(4);
      expect(new Set(results).size).toBe(1);
      expect(JSON.parse(results[0] ?? '')).toMatchObject({ text: 'rb g\ngrb' });
    });
  }

  for (const device of ['wasm', 'host'] as const) {
    test(`pictures on ${device} have the elements of this thread, to the bit`, async ({ page }) => {
      const { all } = await page.evaluate(([model, place]) => weftTasks.onDevice(model, place), [
        [...COLOURS],
        { device, worker: true },
      ] as const);
      const { VideoFrame: frame = 0, ...others } = all;
      expect(others).toEqual({ ImageBitmap: 0, OffscreenCanvas: 0, HTMLCanvasElement: 0, Blob: 0 });
      // Elements of float16 count by their bits.
      expect(frame).toBeLessThanOrEqual(64);
    });
  }
});

test.describe('on a device of the page', () => {
  test.use({ address: '/e2e/pages/own-device.html' });

  test('tasks that need pixels see those of a texture of the page', async ({ page }) => {
    const [texture, picture] = await page.evaluate((models) => weftOwnDevice.pixels(models), {
      lightness: [...lightnessModel()],
      doubled: [...doubled({ shape: [1, 3, 16, 16] })],
      detection: [...DETECTION],
      recognition: [...RECOGNITION],
    });
    expect(texture?.enlarged).toHaveLength(47 * 35 * 16);
    expect(texture).toEqual(picture);
  });
});
