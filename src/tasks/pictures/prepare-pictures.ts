import { checkOptions, requireKind } from '../../core/check-options.ts';
import { requireImport } from '../../core/require-import.ts';
import { Tensor } from '../../client/values/tensor.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';
import { PICTURE_OPTIONS, type PictureOptions } from './picture-options.ts';
import type { PicturePlace } from './picture-place.ts';
import { type Picture, readRgb } from './pixels.ts';

/** Pictures as a model takes them. */
export interface PreparedPictures {
  /** (pictures, channels, rows, columns), or with channels last. */
  readonly tensor: Tensor;
  /** Where each picture lies in the tensor's rows and columns. */
  readonly places: readonly PicturePlace[];
}

/**
 * Resizes and normalises pictures for a model, in this thread; `preparePicturesOnDevice` and the tasks do so where their session is.
 * The same picture and options give the same elements in every browser and in Node; a browser's decoder and its canvas alone may differ
 * by a level. Rejects with UsageError for wrong options and for a picture without pixels, and with ShapeError for pictures that have
 * different sizes in the end.
 */
export async function preparePictures(
  pictures: readonly Picture[],
  options: PictureOptions = {},
): Promise<PreparedPictures> {
  requireKind('preparePictures', 'list', ['pictures', pictures]);
  checkOptions('preparePictures', options, PICTURE_OPTIONS);
  return prepareHere(pictures, options);
}

/** The same without a check of options, of which each picture may have its own. */
async function prepareHere(
  pictures: readonly Picture[],
  options: PictureOptions | readonly PictureOptions[],
): Promise<PreparedPictures> {
  await requireImport();
  return prepareRgb(
    await Promise.all(pictures.map((one, i) => readRgb(one, nameOf(i, pictures)))),
    options,
  );
}

/** A picture among others in messages. */
export const nameOf = (index: number, { length }: readonly Picture[]): string =>
  length > 1 ? `picture ${index}` : 'picture';

async function prepareRgb(
  pictures: readonly Rgb[],
  options: PictureOptions | readonly PictureOptions[],
): Promise<PreparedPictures> {
  const { pictureBatch } = await import('./picture-batch.ts');
  const { PreparedElements } = await import('../../core/pictures/prepare-elements.ts');
  const { dtype, shape, steps, places } = pictureBatch(pictures, options);
  const elements = new PreparedElements(steps);
  for (const [i, picture] of pictures.entries()) elements.write(i, picture);
  return { tensor: new Tensor(dtype, elements.data, shape), places };
}
