import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session } from '../../client/index.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import type { Pixels } from '../../core/pictures/pixels.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { openPageDevice, type PageDevice } from '../../testing/page-device.ts';
import {
  applyMask,
  backgroundRemoval,
  imageClassifier,
  imageSegmenter,
  ocr,
  type Picture,
  type PictureOptions,
  preparePictures,
  preparePicturesOnDevice,
  superResolution,
} from '../index.ts';
import { COLOURS } from '../testing/colours-model.ts';
import { COLOUR_TEXT, WRITTEN } from '../testing/colour-text-model.ts';
import { doubled } from '../testing/doubled-model.ts';
import { COLOUR_CLASSES, lightnessModel } from '../testing/segmentation-models.ts';
import { formulaPicture, PICTURE_STEPS } from '../testing/test-pictures.ts';
import { tilesOf } from './tiles.ts';

const USAGE = { copyTarget: 0x02, binding: 0x04, target: 0x10 } as const;
const MAP_READ = 0x01;

/** How each format stores red, green and blue from 0 to 255 and opaque alpha. */
const FORMATS = {
  rgba8unorm: (r: number, g: number, b: number) => Uint8Array.of(r, g, b, 255),
  'rgba8unorm-srgb': (r: number, g: number, b: number) => Uint8Array.of(r, g, b, 255),
  bgra8unorm: (r: number, g: number, b: number) => Uint8Array.of(b, g, r, 255),
  'bgra8unorm-srgb': (r: number, g: number, b: number) => Uint8Array.of(b, g, r, 255),
  rgba16float: (r: number, g: number, b: number) =>
    new Uint8Array(Uint16Array.from([r / 255, g / 255, b / 255, 1], numberToFloat16).buffer),
} as const;
type Format = keyof typeof FORMATS;

let page: PageDevice;
let session: Session;

const place = () => ({ worker: false, device: 'webgpu', gpu: page.gpuDevice }) as const;

beforeAll(async () => {
  page = await openPageDevice();
  session = await Session.load(COLOURS, place());
});

afterAll(async () => {
  await session.dispose();
  page.gpuDevice.destroy();
});

function textureOf(
  { width, height, data }: Pixels,
  format: Format = 'rgba8unorm',
  device: GPUDevice = page.gpuDevice,
): GPUTexture {
  const bytes = Array.from({ length: width * height }, (_, i) => [
    ...FORMATS[format](data[i * 3] ?? 0, data[i * 3 + 1] ?? 0, data[i * 3 + 2] ?? 0),
  ]).flat();
  const usage = USAGE.copyTarget | USAGE.binding;
  const texture = device.createTexture({ size: [width, height], format, usage });
  const bytesPerRow = bytes.length / height;
  device.queue.writeTexture({ texture }, Uint8Array.from(bytes), { bytesPerRow }, [width, height]);
  return texture;
}

async function elementsOnDevice(
  pictures: readonly Picture[],
  options: PictureOptions = {},
): Promise<number[]> {
  const { tensor } = await preparePicturesOnDevice(session, pictures, options);
  const { data } = await tensor.read();
  tensor.dispose();
  return [...data].map(Number);
}

async function elements(pictures: readonly Pixels[], options: PictureOptions = {}) {
  const { tensor } = await preparePictures(pictures, options);
  return [...tensor.data].map(Number);
}

describe.each(Object.keys(FORMATS) as Format[])('a texture in %s', (format) => {
  test('has the elements of its pixels', async () => {
    const pixels = formulaPicture(48, 36);
    const textures = [textureOf(pixels, format), textureOf(pixels, format)];
    for (const options of PICTURE_STEPS) {
      const found = await elementsOnDevice(textures, options);
      expect(found).toEqual(await elements([pixels, pixels], options));
    }
  });

  test('has all levels', async () => {
    const data = Uint8Array.from({ length: 256 * 3 }, (_, i) => Math.floor(i / 3));
    const levels = { width: 256, height: 1, data };
    const options = { dtype: 'uint8' } as const;
    expect(await elementsOnDevice([textureOf(levels, format)], options)).toEqual(
      await elements([levels], options),
    );
  });
});

test('floats beyond the range of pictures are the nearest levels', async () => {
  const texture = textureOf(
    { width: 2, height: 1, data: Uint8Array.of(0, 0, 0, 0, 0, 0) },
    'rgba16float',
  );
  const bits = Uint16Array.from([-1, 0.5, 2, 1, 7, -3, 0, 1], numberToFloat16);
  page.gpuDevice.queue.writeTexture({ texture }, bits, { bytesPerRow: 16 }, [2, 1]);
  expect(await elementsOnDevice([texture], { dtype: 'uint8', pad: 2 })).toEqual(
    [
      [0, 255, 0, 0],
      [128, 0, 0, 0],
      [255, 0, 0, 0],
    ].flat(),
  );
});

test('nothing is read back or copied, and the texture stays the page’s', async () => {
  const texture = textureOf(formulaPicture(48, 36));
  page.uploads.length = 0;
  page.usages.length = 0;
  const { tensor, places } = await preparePicturesOnDevice(session, [texture], { size: 4 });
  expect(places[0]?.source).toEqual({ width: 48, height: 36 });
  const { logits } = await session.run({ pixel_values: tensor }, { keep: 'device' });
  expect(page.uploads).toEqual([]);
  expect(page.usages.filter((usage) => (usage & MAP_READ) !== 0)).toEqual([]);
  tensor.dispose();
  logits?.dispose();
  expect(await elementsOnDevice([texture], { size: 4 })).toHaveLength(48);
});

test('what the page submitted before is seen', async () => {
  const { gpuDevice } = page;
  const usage = USAGE.binding | USAGE.target;
  const texture = gpuDevice.createTexture({ size: [4, 4], format: 'bgra8unorm', usage });
  const encoder = gpuDevice.createCommandEncoder();
  const clearValue = [1, 0.2, 0, 1];
  const view = texture.createView();
  encoder
    .beginRenderPass({
      colorAttachments: [{ view, clearValue, loadOp: 'clear', storeOp: 'store' }],
    })
    .end();
  gpuDevice.queue.submit([encoder.finish()]);
  const found = await elementsOnDevice([texture], { dtype: 'uint8' });
  expect(found).toEqual([255, 51, 0].flatMap((level) => Array.from({ length: 16 }, () => level)));
});

describe('tasks', () => {
  const pixels = formulaPicture(12, 8);

  test('give for a texture what they give for its pixels', async () => {
    const labels = ['red', 'green', 'blue'];
    await using classifier = await imageClassifier(COLOURS, { ...place(), labels });
    const pictures = [textureOf(pixels), textureOf(formulaPicture(5, 9))];
    expect(await classifier.classifyAll(pictures)).toEqual(
      await classifier.classifyAll([pixels, formulaPicture(5, 9)]),
    );
    await using segmenter = await imageSegmenter(COLOUR_CLASSES, { ...place(), labels });
    const { classes } = await segmenter.segment(textureOf(pixels));
    expect(classes).toEqual((await segmenter.segment(pixels)).classes);
    await using removal = await backgroundRemoval(lightnessModel(), place());
    expect(await removal.mask(textureOf(pixels))).toEqual(await removal.mask(pixels));
  });

  test('that need pixels read the texture once', async () => {
    await using removal = await backgroundRemoval(lightnessModel(), place());
    expect(await removal.apply(textureOf(pixels))).toEqual(await removal.apply(pixels));
    // Rows of 5 pixels are no whole words.
    const odd = formulaPicture(5, 9);
    page.usages.length = 0;
    await using enlarger = await superResolution(doubled({ shape: [1, 3, 4, 4] }), place());
    const enlarged = await enlarger.enlarge(textureOf(odd, 'bgra8unorm-srgb'));
    const runs = tilesOf(odd, { width: 4, height: 4 }, 16).length;
    expect(page.usages.filter((usage) => (usage & MAP_READ) !== 0).length).toBeLessThanOrEqual(
      runs + 1,
    );
    expect(enlarged).toEqual(await enlarger.enlarge(odd));
    await using luma = await superResolution(doubled({ shape: [1, 1, 'h', 'w'] }), place());
    expect(await luma.enlarge(textureOf(odd))).toEqual(await luma.enlarge(odd));
    await using reader = await ocr(COLOUR_TEXT, place());
    const read = await reader.read(textureOf(WRITTEN));
    expect(read.text).toBe('rb g\ngrb');
    expect(read).toEqual(await reader.read(WRITTEN));
  });

  test('of this thread have no device for it', async () => {
    // Here nothing draws pictures; pages name those that they read.
    const message = 'picture: got GPUTexture, expected { width, height, data: Uint8Array }';
    await expect(preparePictures([textureOf(pixels)])).rejects.toThrow(message);
    const mask = { width: 12, height: 8, data: new Uint8Array(96) };
    await expect(applyMask(textureOf(pixels), mask)).rejects.toThrow(message);
  });

  test('on another device refuse it too', async () => {
    await using classifier = await imageClassifier(COLOURS, { device: 'host', worker: false });
    await expect(classifier.classify(textureOf(pixels))).rejects.toThrow(
      'picture: got a GPUTexture for a session on host, expected a session on the device of the texture.',
    );
  });
});

describe('a texture that does not fit', () => {
  const refusal = async (texture: GPUTexture): Promise<string> => {
    const [outcome] = await Promise.allSettled([preparePicturesOnDevice(session, [texture])]);
    return outcome.status === 'rejected' ? String(outcome.reason) : 'taken';
  };

  test('is refused with what would', async () => {
    const { gpuDevice } = page;
    const usage = USAGE.binding | USAGE.target;
    const of = (rest: Partial<GPUTextureDescriptor>): GPUTexture =>
      gpuDevice.createTexture({ size: [4, 4], format: 'rgba8unorm', usage, ...rest });
    const formats = 'rgba8unorm, rgba8unorm-srgb, bgra8unorm, bgra8unorm-srgb, rgba16float';
    expect(await refusal(of({ format: 'r8unorm' }))).toBe(
      `UnsupportedError: GPUTexture: got r8unorm, 2d, 1 layers, 1 samples, expected one layer and one sample of ${formats}. Draw it into such a texture.`,
    );
    expect(await refusal(of({ size: [4, 4, 2] }))).toContain('got rgba8unorm, 2d, 2 layers');
    expect(await refusal(of({ sampleCount: 4 }))).toContain('1 layers, 4 samples');
    expect(await refusal(of({ usage: USAGE.target }))).toBe(
      'UsageError: GPUTexture: got a texture with the usage 16, expected GPUTextureUsage.TEXTURE_BINDING. Make it with that usage; for the texture of a canvas configure() takes it.',
    );
    const other = await openPageDevice();
    const foreign = await refusal(textureOf(formulaPicture(4, 4), 'rgba8unorm', other.gpuDevice));
    expect(foreign).toContain('UsageError: GPUTexture: got a texture of another device (');
    other.gpuDevice.destroy();
    const gone = textureOf(formulaPicture(4, 4));
    gone.destroy();
    expect(await refusal(gone)).toContain('DeviceError: launch: the GPU refused:');
    expect(await elementsOnDevice([textureOf(formulaPicture(4, 4))])).toHaveLength(48);
  });

  test('a session without the device of the page takes none', async () => {
    const options = { worker: false, device: 'webgpu', gpu: await sharedNodeGpu() } as const;
    const own = await Session.load(COLOURS, options);
    await expect(preparePicturesOnDevice(own, [textureOf(formulaPicture(4, 4))])).rejects.toThrow(
      'GPUTexture: got a texture of another device (',
    );
    await own.dispose();
  });
});
