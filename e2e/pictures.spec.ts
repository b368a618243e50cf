import { COLOURS } from '../src/tasks/testing/colours-model.ts';
import { DOUBLED } from '../src/tasks/testing/doubled-model.ts';
import { lightnessModel } from '../src/tasks/testing/segmentation-models.ts';
import { test as base, expect } from './fixtures.ts';
import type { TasksPage } from './pages/tasks.ts';

declare const weftTasks: TasksPage;

/** Without graphics hardware Chromium shows what WebGPU draws only where all its parts use one software adapter. */
const ONE_ADAPTER = [
  '--use-angle=swiftshader',
  '--use-vulkan=swiftshader',
  '--enable-features=Vulkan',
];

const test = base.extend<object, object>({
  launchOptions: [
    async ({ launchOptions, browserName }, use) => {
      const { args = [] } = launchOptions;
      const all = browserName === 'chromium' ? [...args, ...ONE_ADAPTER] : args;
      await use({ ...launchOptions, args: all });
    },
    { scope: 'worker' },
  ],
});

test.beforeEach(async ({ page }) => {
  await page.goto('/e2e/pages/tasks.html');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
});

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
