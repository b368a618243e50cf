import type { Session } from '../client/session.ts';
import { Tensor } from '../client/tensor.ts';
import { internalError, ShapeError } from '../core/errors.ts';
import type { PictureInput } from './pictures/model-pictures.ts';
import type { PicturePlace } from './pictures/picture-place.ts';
import { preparePictures } from './pictures/prepare-pictures.ts';
import type { Picture } from './pictures/pixels.ts';

/** Results of a model by name, and where pictures lay in its input. */
export interface PictureResults {
  readonly outputs: Readonly<Record<string, Tensor>>;
  readonly places: readonly PicturePlace[];
}

/** Runs a model on pictures. Inputs beside them are masks of exporters, of which every element is 1. */
export async function runOnPictures(
  session: Session,
  { name, options }: PictureInput,
  {
    pictures,
    signal,
  }: { readonly pictures: readonly Picture[]; readonly signal?: AbortSignal | undefined },
): Promise<PictureResults> {
  signal?.throwIfAborted();
  const { tensor, places } = await preparePictures(pictures, options);
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
    const dims = [pictures.length, 64, 64];
    return [
      input.name,
      new Tensor('int64', new BigInt64Array(pictures.length * 4096).fill(1n), dims),
    ];
  });
  const inputs = { [name]: tensor, ...(Object.fromEntries(masks) as Record<string, Tensor>) };
  const outputs = await session.run(inputs, { signal, transfer: true });
  return { outputs, places };
}

/** The same for one picture. */
export async function runOnPicture(
  session: Session,
  input: PictureInput,
  { picture, signal }: { readonly picture: Picture; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly outputs: PictureResults['outputs']; readonly place: PicturePlace }> {
  const { outputs, places } = await runOnPictures(session, input, { pictures: [picture], signal });
  const [place] = places;
  if (place === undefined) throw internalError('a picture without a place');
  return { outputs, place };
}
