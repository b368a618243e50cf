import type { DeviceTensor } from '../client/values/device-tensor.ts';
import type { Session } from '../client/session.ts';
import { Tensor } from '../client/values/tensor.ts';
import { internalError, ShapeError } from '../core/errors.ts';
import { HeldPicture, type PreparedPart } from './pictures/held-picture.ts';
import type { PictureInput } from './pictures/model-pictures.ts';
import type { PicturePlace } from './pictures/picture-place.ts';
import { prepareFor } from './pictures/prepare-on-device.ts';
import type { Picture } from './pictures/pixels.ts';
import { outputOf } from './results/numbers.ts';

/** Results of a model by name, and where pictures lay in its input. */
interface PictureResults {
  readonly outputs: Readonly<Record<string, Tensor>>;
  readonly places: readonly PicturePlace[];
}

interface PictureRun {
  readonly picture: Picture;
  readonly signal?: AbortSignal | undefined;
}

export async function runOnPictures(
  session: Session,
  input: PictureInput,
  {
    pictures,
    signal,
  }: { readonly pictures: readonly Picture[]; readonly signal?: AbortSignal | undefined },
): Promise<PictureResults> {
  const { tensor, places } = await prepareFor(session, pictures, { ...input, signal });
  try {
    const inputs = { [input.name]: tensor, ...masksOf(session, input.name, pictures.length) };
    return { outputs: await session.run(inputs, { signal, transfer: true }), places };
  } finally {
    if (!(tensor instanceof Tensor)) tensor.dispose();
  }
}

interface HeldRun extends Omit<PictureRun, 'picture'> {
  readonly picture: Picture | HeldPicture;
}

/** Runs a model on one picture, and reads the first of its results: features beside a mask stay where they are. */
export async function runForFirst(
  session: Session,
  input: PictureInput,
  run: HeldRun,
): Promise<{ readonly output: Tensor; readonly place: PicturePlace }> {
  const { outputs, place } = await runOnDevice(session, input, run);
  try {
    const output = await outputOf(outputs, []).read({ ...(run.signal && { signal: run.signal }) });
    return { output, place };
  } finally {
    for (const output of Object.values(outputs)) output.dispose();
  }
}

export async function runOnPicture(
  session: Session,
  input: PictureInput,
  { picture, signal }: PictureRun,
): Promise<{ readonly outputs: PictureResults['outputs']; readonly place: PicturePlace }> {
  const { outputs, places } = await runOnPictures(session, input, { pictures: [picture], signal });
  return { outputs, place: onlyOne(places) };
}

/** The same, with results that stay on the device until they are disposed of. */
export async function runOnDevice(
  session: Session,
  input: PictureInput,
  { picture, signal }: HeldRun,
): Promise<{
  readonly outputs: Readonly<Record<string, DeviceTensor>>;
  readonly place: PicturePlace;
}> {
  const { tensor, place } = await preparedOne(session, input, { picture, signal });
  try {
    const inputs = { [input.name]: tensor, ...masksOf(session, input.name, 1) };
    const outputs = await session.run(inputs, { signal, transfer: true, keep: 'device' });
    return { outputs, place };
  } finally {
    if (!(tensor instanceof Tensor)) tensor.dispose();
  }
}

async function preparedOne(
  session: Session,
  { options }: PictureInput,
  { picture, signal }: HeldRun,
): Promise<PreparedPart> {
  if (picture instanceof HeldPicture) return picture.prepare(options, { signal });
  const { tensor, places } = await prepareFor(session, [picture], { options, signal });
  return { tensor, place: onlyOne(places) };
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
    // The mask of DETR's image processor.
    const dims = [count, 64, 64];
    return [input.name, new Tensor('int64', new BigInt64Array(count * 4096).fill(1n), dims)];
  });
  return Object.fromEntries(masks) as Record<string, Tensor>;
}
