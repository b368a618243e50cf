import type { DeviceTensor } from '../client/device-tensor.ts';
import type { Session } from '../client/session.ts';
import { Tensor } from '../client/tensor.ts';
import { internalError, ShapeError, UnsupportedError } from '../core/errors.ts';
import { isGpuTexture } from '../core/gpu-like.ts';
import type { PictureInput } from './pictures/model-pictures.ts';
import type { PicturePlace } from './pictures/picture-place.ts';
import type { PictureOptions } from './pictures/picture-options.ts';
import { preparePicturesOnDevice, type PicturesOnDevice } from './pictures/prepare-on-device.ts';
import { preparePictures, type PreparedPictures } from './pictures/prepare-pictures.ts';
import type { Picture } from './pictures/pixels.ts';
import { outputOf } from './results/numbers.ts';

/** Results of a model by name, and where pictures lay in its input. */
export interface PictureResults {
  readonly outputs: Readonly<Record<string, Tensor>>;
  readonly places: readonly PicturePlace[];
}

/** One picture, and what ends the run. */
interface PictureRun {
  readonly picture: Picture;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a model on pictures. */
export async function runOnPictures(
  session: Session,
  input: PictureInput,
  {
    pictures,
    signal,
  }: { readonly pictures: readonly Picture[]; readonly signal?: AbortSignal | undefined },
): Promise<PictureResults> {
  signal?.throwIfAborted();
  const { tensor, places } = await prepared(session, pictures, input);
  const inputs = { [input.name]: tensor, ...masksOf(session, input.name, pictures.length) };
  try {
    return { outputs: await session.run(inputs, { signal, transfer: true }), places };
  } finally {
    if (!(tensor instanceof Tensor)) tensor.dispose();
  }
}

/** Runs a model on one picture, and reads the first of its results: features beside a mask stay where they are. */
export async function runForFirst(
  session: Session,
  input: PictureInput,
  run: PictureRun,
): Promise<{ readonly output: Tensor; readonly place: PicturePlace }> {
  const { outputs, place } = await runOnDevice(session, input, run);
  try {
    const output = await outputOf(outputs, []).read({ ...(run.signal && { signal: run.signal }) });
    return { output, place };
  } finally {
    for (const output of Object.values(outputs)) output.dispose();
  }
}

/** The same for one picture. */
export async function runOnPicture(
  session: Session,
  input: PictureInput,
  { picture, signal }: PictureRun,
): Promise<{ readonly outputs: PictureResults['outputs']; readonly place: PicturePlace }> {
  const { outputs, places } = await runOnPictures(session, input, { pictures: [picture], signal });
  return { outputs, place: onlyOne(places) };
}

/**
 * The same, with results that stay on the device until they are disposed of. On WebGPU a picture of the page goes there as it is.
 */
export async function runOnDevice(
  session: Session,
  input: PictureInput,
  { picture, signal }: PictureRun,
): Promise<{
  readonly outputs: Readonly<Record<string, DeviceTensor>>;
  readonly place: PicturePlace;
}> {
  signal?.throwIfAborted();
  const { tensor, places } = await prepared(session, [picture], { ...input, whereItFits: true });
  const inputs = { [input.name]: tensor, ...masksOf(session, input.name, 1) };
  try {
    const outputs = await session.run(inputs, { signal, transfer: true, keep: 'device' });
    return { outputs, place: onlyOne(places) };
  } finally {
    if (!(tensor instanceof Tensor)) tensor.dispose();
  }
}

/**
 * Textures are read where they lie. Other pictures are prepared on the processor, or with `whereItFits` on the GPU as far as it takes
 * them: the elements are the same.
 */
async function prepared(
  session: Session,
  pictures: readonly Picture[],
  { options, whereItFits = false }: { options: PictureOptions; whereItFits?: boolean },
): Promise<PreparedPictures | PicturesOnDevice> {
  const isOnGpu = pictures.some(isGpuTexture);
  const mayFit = whereItFits && session.device.kind === 'webgpu';
  if (isOnGpu || (mayFit && !pictures.some((picture) => 'data' in picture))) {
    try {
      return await preparePicturesOnDevice(session, pictures, options);
    } catch (error) {
      if (isOnGpu || !(error instanceof UnsupportedError)) throw error;
    }
  }
  return preparePictures(pictures, options);
}

function onlyOne(places: readonly PicturePlace[]): PicturePlace {
  const [place] = places;
  if (place === undefined) throw internalError('a picture without a place');
  return place;
}

/** Masks of exporters, of which every element is 1. Throws ShapeError for further inputs of another kind. */
function masksOf(session: Session, name: string, count: number): Record<string, Tensor> {
  const others = session.inputs.filter((input) => input.name !== name);
  const masks = others.map((input) => {
    const { dtype, shape } = input;
    if (dtype !== 'int64' || input.name !== 'pixel_mask') {
      throw new ShapeError({
        where: 'the model',
        got: `a further input ${input.name}: ${dtype} [${shape.join(', ')}]`,
        expected: 'pictures alone, or with pixel_mask',
      });
    }
    // What the image processor of DETR gives.
    const dims = [count, 64, 64];
    return [input.name, new Tensor('int64', new BigInt64Array(count * 4096).fill(1n), dims)];
  });
  return Object.fromEntries(masks) as Record<string, Tensor>;
}
