import { transfer } from 'comlink';
import { checkOptions } from '../../client/check-options.ts';
import { DeviceTensor } from '../../client/device-tensor.ts';
import type { Session } from '../../client/session.ts';
import { dtypeInfo } from '../../core/dtype.ts';
import { internalError, UnsupportedError, UsageError } from '../../core/errors.ts';
import { isGpuTexture } from '../../core/gpu-like.ts';
import type { AxisWeights, PictureSteps } from '../../core/picture-steps.ts';
import type { PreparedPicture } from '../../worker/protocol.ts';
import { PICTURE_OPTIONS, type PictureOptions, type Size } from './picture-options.ts';
import type { PicturePlan } from './picture-plan.ts';
import { PicturePlace } from './picture-place.ts';
import type { Picture } from './pixels.ts';
import { CHANNELS, levelTables, plansOf, spread } from './prepare-pictures.ts';
import { resampleWeights } from './resample-weights.ts';

/** The limits that WebGPU has everywhere: pixels along a side of a texture, bytes of a binding. */
const MOST_SIDE = 8192;
const MOST_BYTES = 2 ** 27;

type Source = PreparedPicture['source'];

/** Pictures on the device of a session. */
export interface PicturesOnDevice {
  /** (pictures, channels, rows, columns), or with channels last. Dispose of it. */
  readonly tensor: DeviceTensor;
  /** Where each of them lies. */
  readonly places: readonly PicturePlace[];
}

/**
 * As `preparePictures`, on the GPU of a session, for its inputs: the picture goes there as it is, and is resized and normalised by
 * shaders, with the same elements. A GPUTexture of the device that the session was loaded with (`gpu`) is read where it lies, in
 * the order of submissions; it stays the page's, and must live until this resolves. Rejects as `preparePictures` does, and with
 * UnsupportedError for a session that is not on WebGPU, is remote, or where pictures of this kind are not copied to textures.
 */
export async function preparePicturesOnDevice(
  session: Session,
  pictures: readonly Picture[],
  options: PictureOptions = {},
): Promise<PicturesOnDevice> {
  checkOptions('preparePicturesOnDevice', options, PICTURE_OPTIONS);
  if (session.device.kind !== 'webgpu') throw notOnGpu(`a session on ${session.device.name}`);
  const sources = await Promise.all(pictures.map(sourceOf));
  try {
    return await sent(session, sources, options);
  } catch (error) {
    // Those that went to the worker are closed already, which is no error.
    for (const source of bitmapsOf(sources)) source.close();
    if (!sources.some(isGpuTexture)) throw error;
    throw (await import('../../client/gpu-buffers.ts')).explainCrossing(error, 'GPUTexture');
  }
}

async function sent(
  session: Session,
  sources: readonly Source[],
  options: PictureOptions,
): Promise<PicturesOnDevice> {
  const sizes = sources.map(({ width, height }) => ({ width, height }));
  const { plans, first } = plansOf(sizes, options);
  const { channels = 'rgb', layout = 'nchw', dtype = 'float32' } = options;
  const count = CHANNELS[channels].length;
  const { width, height } = first.padded;
  const dims = layout === 'nhwc' ? [height, width, count] : [count, height, width];
  const shape = [sources.length, ...dims];
  const elementSize = dtypeInfo(dtype).byteLength;
  if ((count * width * height * elementSize) % 4 !== 0) {
    throw notOnGpu(`pictures of ${count * width * height} elements of ${dtype}, no whole words`);
  }
  for (const [i, size] of sizes.entries()) {
    const rowBytes = (plans[i] ?? first).resized.width * size.height * 4;
    if (Math.max(size.width, size.height) <= MOST_SIDE && rowBytes <= MOST_BYTES) continue;
    throw notOnGpu(`a picture of ${size.width} x ${size.height}`);
  }
  const prepared = sources.map((source, i) => ({
    source,
    steps: stepsOf(sizes[i] ?? first.padded, plans[i] ?? first, options),
  }));
  const request = { kind: 'prepare', pictures: prepared, dtype, shape, args: [] } as const;
  const { results } = await session.control(transfer(request, bitmapsOf(sources)));
  const value = results[0]?.value;
  if (value?.kind !== 'handle') throw internalError('no tensor of pictures');
  return {
    tensor: new DeviceTensor(session, value.handle, { dtype, shape }),
    places: sizes.map((size, i) => new PicturePlace(size, plans[i] ?? first)),
  };
}

const bitmapsOf = (sources: readonly Source[]): ImageBitmap[] =>
  sources.filter((source): source is ImageBitmap => !isGpuTexture(source));

/** A texture, or a copy that goes to the worker: the page keeps its own. */
async function sourceOf(picture: Picture): Promise<Source> {
  if (isGpuTexture(picture)) return picture;
  if (typeof createImageBitmap !== 'function') throw notOnGpu('no createImageBitmap');
  if (picture instanceof Blob || !('data' in picture)) return createImageBitmap(picture);
  if (picture instanceof ImageData) return createImageBitmap(picture);
  throw new UsageError({
    where: 'picture',
    got: '{ width, height, data }',
    expected: 'a picture of the page',
    remedy: 'preparePictures takes pixels.',
  });
}

function stepsOf(source: Size, plan: PicturePlan, options: PictureOptions): PictureSteps {
  const { resampling = 'bilinear', channels = 'rgb', layout, fit, padding = 0 } = options;
  const { resized, frame, padded } = plan;
  const order = CHANNELS[channels];
  const weights = (from: number, to: number): AxisWeights =>
    resampleWeights(from, to, from === to ? 'nearest' : resampling);
  const [red = 0, green = 0, blue = 0] =
    fit === 'contain' ? spread(padding, [0, 1, 2], 'padding') : [];
  const tables = levelTables(options, order);
  const levels = new Int32Array(256 * tables.length);
  for (const [i, table] of tables.entries()) {
    levels.set(table instanceof Float32Array ? new Int32Array(table.buffer) : table, i * 256);
  }
  return {
    source: [source.width, source.height],
    resized: [resized.width, resized.height],
    frame: [frame.left, frame.top, frame.width, frame.height],
    padded: [padded.width, padded.height],
    rows: weights(source.width, resized.width),
    columns: weights(source.height, resized.height),
    fill: [red, green, blue],
    order,
    levels,
    isGrey: channels === 'grey',
    isLast: layout === 'nhwc',
    elementSize: options.dtype === 'float16' ? 2 : options.dtype === 'uint8' ? 1 : 4,
  };
}

function notOnGpu(got: string): UnsupportedError {
  return new UnsupportedError({
    where: 'preparePicturesOnDevice',
    got,
    expected:
      'pictures of the page of up to 8192 pixels a side, in whole words, for a session on WebGPU',
    remedy: 'preparePictures makes a tensor of pictures for it.',
  });
}
