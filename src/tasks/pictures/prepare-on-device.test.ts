import { afterEach, describe, expect, test } from 'vitest';
import { type LoadOptions, Session, type Tensor } from '../../client/index.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Pixels, Rgb } from '../../core/pictures/pixels.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { openConnection } from '../../rpc/testing/open-connection.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { ownGpu } from '../../testing/own-gpu.ts';
import {
  imageClassifier,
  ocr,
  type PictureOptions,
  preparePictures,
  preparePicturesOnDevice,
  superResolution,
} from '../index.ts';
import { COLOUR_TEXT, WRITTEN } from '../testing/colour-text-model.ts';
import { COLOURS } from '../testing/colours-model.ts';
import { doubled } from '../testing/doubled-model.ts';
import { formulaPicture, PICTURE_STEPS } from '../testing/test-pictures.ts';
import { holdPicture } from './held-picture.ts';
import { prepareFor } from './prepare-on-device.ts';

const sessions: Session[] = [];

async function load(options: LoadOptions): Promise<Session> {
  const session = await Session.load(COLOURS, options);
  sessions.push(session);
  return session;
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.dispose()));
});

/** Who shares a device has all other sessions there share it too. */
const ownPlace = async () => ({ device: 'wasm', worker: false, gpu: await ownGpu() }) as const;

const PLACES: readonly [string, () => Promise<LoadOptions>][] = [
  ['host', async () => ({ device: 'host' })],
  ['wasm', async () => ({ device: 'wasm' })],
  ['wasm in this thread', async () => ({ device: 'wasm', worker: false })],
  ['wasm that is shared', async () => ({ ...(await ownPlace()), pin: true })],
  ['WebGPU', async () => ({ device: 'webgpu', worker: false, gpu: await sharedNodeGpu() })],
];

/** The picture with a fourth byte for alpha in each pixel, which must not count. */
function withAlpha({ width, height, data }: Rgb): Pixels {
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    rgba.set([...data.subarray(i * 3, i * 3 + 3), i % 256], i * 4);
  }
  return { width, height, data: rgba };
}

/** A part of a larger buffer. */
function within({ width, height, data }: Rgb): Rgb {
  const larger = new Uint8Array(data.length + 40);
  larger.set(data, 7);
  return { width, height, data: larger.subarray(7, 7 + data.length) };
}

const numbers = ({ data }: Tensor): number[] => [...data].map(Number);
const expected = async (pictures: readonly Pixels[], options?: PictureOptions) =>
  numbers((await preparePictures(pictures, options)).tensor);

async function onDevice(session: Session, pictures: readonly Pixels[], options?: PictureOptions) {
  const { tensor, places } = await preparePicturesOnDevice(session, pictures, options);
  const read = numbers(await tensor.read());
  tensor.dispose();
  return { read, places };
}

describe.each(PLACES)('on %s', (_, placeOf) => {
  test('elements are those of preparePictures, to the bit', async () => {
    const session = await load(await placeOf());
    const picture = formulaPicture(48, 36);
    const grey = { width: 48, height: 36, data: picture.data.slice(0, 48 * 36) };
    for (const options of [...PICTURE_STEPS, { crop: 60, mean: 0.5 }, {}] as PictureOptions[]) {
      const pictures = [picture, withAlpha(picture), grey, within(picture)];
      const { read, places } = await onDevice(session, pictures, options);
      expect(read).toEqual(await expected(pictures, options));
      expect(places[3]?.source).toEqual({ width: 48, height: 36 });
    }
  });

  test('what shaders do not take is prepared all the same', async () => {
    const session = await load(await placeOf());
    // No whole words, and more pixels along a side than textures have everywhere.
    const odd = { dtype: 'uint8', size: { width: 3, height: 3 } } as const;
    const picture = formulaPicture(9, 7);
    expect((await onDevice(session, [picture], odd)).read).toEqual(await expected([picture], odd));
    const wide = formulaPicture(8200, 2);
    const narrow = { size: 4 } as const;
    expect((await onDevice(session, [wide], narrow)).read).toEqual(await expected([wide], narrow));
  });

  test('a held picture is prepared, cut and read until it is dropped', async () => {
    const session = await load(await placeOf());
    const picture = formulaPicture(20, 15);
    const held = await holdPicture(session, withAlpha(picture), {});
    const options = { size: 8, channels: 'bgr' } as const;
    for (const part of [
      undefined,
      { center: [4, 5], along: [1, 0], width: 9, height: 11 },
    ] as const) {
      const { tensor, place } = await held.prepare(options, { part });
      const [seen = picture] = part === undefined ? [] : await held.cut([part], {});
      expect(place.source).toEqual({ width: seen.width, height: seen.height });
      const read = tensor instanceof DeviceTensor ? await tensor.read() : tensor;
      expect(numbers(read)).toEqual(await expected([seen], options));
      if (tensor instanceof DeviceTensor) tensor.dispose();
    }
    const [row] = await held.cut([{ center: [3, 2], along: [1, 0], width: 3, height: 1 }], {});
    expect([...(row?.data ?? [])]).toEqual([...picture.data.subarray(42 * 3, 45 * 3)]);
    expect(await held.read({})).toEqual(picture);
    held.drop();
    await expect(held.read({})).rejects.toThrow('picture: got one that was dropped');
  });
});

test('a session that shares its device gets tensors that outlive it', async () => {
  const options = { size: 4 };
  // Of one connection all sessions share the device as soon as one is pinned.
  const own = await load({ device: 'wasm' });
  const { tensor: kept } = await prepareFor(own, [formulaPicture(9, 7)], { options });
  expect(kept).toBeInstanceOf(DeviceTensor);
  if (kept instanceof DeviceTensor) kept.dispose();
  const shared = await load({ ...(await ownPlace()), pin: true });
  const { tensor } = await prepareFor(shared, [formulaPicture(9, 7)], { options });
  expect(tensor).not.toBeInstanceOf(DeviceTensor);
  const { logits } = await shared.run({ pixel_values: tensor });
  expect(logits?.shape).toEqual([1, 3]);
});

test('tasks on a remote device prepare pictures on this side', async () => {
  const { remote } = await openConnection({ devices: [createHostDevice()] });
  const place = { remote, device: 'host' } as const;
  const picture = formulaPicture(12, 9);
  await using there = await imageClassifier(COLOURS, place);
  await using here = await imageClassifier(COLOURS, { device: 'host' });
  expect(await there.classify(picture)).toEqual(await here.classify(picture));
  await using enlarger = await superResolution(doubled({ shape: [1, 1, 8, 6] }), place);
  await using local = await superResolution(doubled({ shape: [1, 1, 8, 6] }), { device: 'host' });
  expect(await enlarger.enlarge(picture)).toEqual(await local.enlarge(picture));
  await using reader = await ocr(COLOUR_TEXT, place);
  expect((await reader.read(WRITTEN)).text).toBe('rb g\ngrb');
  await expect(preparePicturesOnDevice(there.session, [picture])).rejects.toThrow(
    'preparePicturesOnDevice: got a session on a remote device, expected one on a device of this machine. preparePictures makes a tensor of pictures for it.',
  );
});

test('what is wrong is said before anything is sent', async () => {
  const session = await load({ device: 'host' });
  const prepare = (pictures: readonly Pixels[], options?: PictureOptions) =>
    preparePicturesOnDevice(session, pictures, options);
  const picture = formulaPicture(2, 3);
  await expect(prepare([{ width: 2, height: 2, data: new Uint8Array(11) }])).rejects.toThrow(
    'picture: got 2 x 2 pixels in 11 bytes, expected one pixel or more, and 1, 3 or 4 bytes for each.',
  );
  await expect(prepare([picture, { width: 0, height: 3, data: new Uint8Array() }])).rejects.toThrow(
    'picture 1: got 0 x 3 pixels in 0 bytes',
  );
  await expect(prepare([picture, formulaPicture(3, 3)])).rejects.toThrow(
    'preparePictures: got pictures of 2 x 3 and 3 x 3 after resizing',
  );
  await expect(prepare([])).rejects.toThrow('preparePictures: got no picture');
  await expect(prepare([picture], { sizes: 3 } as PictureOptions)).rejects.toThrow(
    'preparePicturesOnDevice: got an unknown option "sizes"',
  );
});

test('a signal ends it, and nothing stays on the device', async () => {
  const session = await load({ device: 'wasm' });
  const before = (await session.memory()).liveBytes;
  const controller = new AbortController();
  const options = { size: 64 };
  const { signal } = controller;
  const preparing = prepareFor(session, [formulaPicture(900, 700)], { options, signal });
  const holding = holdPicture(session, formulaPicture(9, 7), { signal });
  controller.abort(new Error('enough'));
  await expect(preparing).rejects.toThrow('enough');
  await expect(holding).rejects.toThrow('enough');
  await expect(prepareFor(session, [formulaPicture(2, 2)], { options, signal })).rejects.toThrow(
    'enough',
  );
  await expect.poll(async () => (await session.memory()).liveBytes).toBe(before);
});
