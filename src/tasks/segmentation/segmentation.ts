import type { Pixels } from '../../core/pictures/pixels.ts';
import type { Size } from '../pictures/picture-options.ts';

/** How much of each pixel belongs to something: 0 nothing, 255 all of it. */
export interface Mask extends Pixels {
  /** One byte for each pixel, rows from the top. */
  readonly data: Uint8Array;
}

/** The class of pixels that belong to nothing, of models that tell of single things. */
export const NO_CLASS = 0xffff;

/** The segments of a picture and the class of each pixel, in the picture's own size. */
export class Segmentation implements Size {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** The number of the class of each pixel, rows from the top; 65,535 for pixels that belong to nothing. */
  readonly classes: Uint16Array<ArrayBuffer>;
  /** The classes that there are, or the single things; those that cover most first. */
  readonly segments: readonly Segment[];

  /** @internal */
  constructor(
    { width, height }: Size,
    classes: Uint16Array<ArrayBuffer>,
    segments: readonly Segment[],
  ) {
    this.width = width;
    this.height = height;
    this.classes = classes;
    this.segments = segments.toSorted((a, b) => b.share - a.share);
  }
}

interface SegmentParts {
  readonly size: Size;
  /** The number of the segment that each pixel belongs to. */
  readonly owners: Uint16Array;
  /** The number of this segment in `owners`. */
  readonly owner: number;
  /** How many pixels belong to the segment. */
  readonly count: number;
  readonly index: number;
  readonly label: string | undefined;
  readonly score?: number;
}

/** The pixels of a picture that are of one class, or of one thing. */
export class Segment {
  /** The name of the class, or its number as text for a model without names. */
  readonly label: string;
  /** The number of the class. */
  readonly index: number;
  /** Its part of all pixels, from 0 to 1. */
  readonly share: number;
  /** How sure the model is of it, from 0 to 1, where it tells of single things. */
  readonly score: number | undefined;
  readonly #parts: SegmentParts;

  /** @internal */
  constructor(parts: SegmentParts) {
    this.#parts = parts;
    this.index = parts.index;
    this.label = parts.label ?? String(parts.index);
    this.share = parts.count / parts.owners.length;
    this.score = parts.score;
  }

  /** 255 for its pixels, 0 for all others. */
  mask(): Mask {
    const { size, owners, owner } = this.#parts;
    const data = new Uint8Array(owners.length);
    for (let i = 0; i < data.length; i++) if (owners[i] === owner) data[i] = 255;
    return { width: size.width, height: size.height, data };
  }
}

/** A picture of which each pixel is of some class. */
export function segmentsOfClasses(
  size: Size,
  classes: Uint16Array<ArrayBuffer>,
  labels: readonly string[] | undefined,
): Segmentation {
  const counts = new Uint32Array(2 ** 16);
  for (const index of classes) counts[index] = (counts[index] ?? 0) + 1;
  const segments: Segment[] = [];
  for (const [index, count] of counts.entries()) {
    if (count === 0) continue;
    const label = labels?.[index];
    segments.push(new Segment({ size, owners: classes, owner: index, count, index, label }));
  }
  return new Segmentation(size, classes, segments);
}
