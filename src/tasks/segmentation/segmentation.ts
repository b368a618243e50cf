import type { Size } from '../pictures/picture-options.ts';
import type { Pixels } from '../pictures/pixels.ts';

/** How much of each pixel belongs to something: 0 nothing, 255 all of it. */
export interface Mask extends Pixels {
  /** One byte for each pixel, rows from the top. */
  readonly data: Uint8Array;
}

/** What a picture is divided into, in the picture's own size. */
export class Segmentation implements Size {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** The number of the class of each pixel, rows from the top. */
  readonly classes: Uint16Array<ArrayBuffer>;
  /** The classes that there are, those that cover most first. */
  readonly segments: readonly Segment[];

  /** @internal */
  constructor(
    { width, height }: Size,
    classes: Uint16Array<ArrayBuffer>,
    labels: readonly string[] | undefined,
  ) {
    this.width = width;
    this.height = height;
    this.classes = classes;
    this.segments = countOf(classes).map(
      ([index, count]) =>
        new Segment(this, { index, label: labels?.[index], share: count / classes.length }),
    );
  }
}

interface SegmentParts {
  readonly index: number;
  readonly label: string | undefined;
  readonly share: number;
}

/** The pixels of a picture that are of one class. */
export class Segment {
  /** The name of the class, or its number as text for a model without names. */
  readonly label: string;
  /** The number of the class. */
  readonly index: number;
  /** Its part of all pixels, from 0 to 1. */
  readonly share: number;
  readonly #whole: Segmentation;

  /** @internal */
  constructor(whole: Segmentation, { index, label, share }: SegmentParts) {
    this.#whole = whole;
    this.index = index;
    this.label = label ?? String(index);
    this.share = share;
  }

  /** 255 for its pixels, 0 for all others. */
  mask(): Mask {
    const { width, height, classes } = this.#whole;
    const data = new Uint8Array(classes.length);
    for (let i = 0; i < data.length; i++) if (classes[i] === this.index) data[i] = 255;
    return { width, height, data };
  }
}

/** Numbers of classes and of their pixels, most pixels first. */
function countOf(classes: Uint16Array): [index: number, count: number][] {
  const counts = new Uint32Array(2 ** 16);
  for (const index of classes) counts[index] = (counts[index] ?? 0) + 1;
  const found: [number, number][] = [];
  for (const [index, count] of counts.entries()) if (count > 0) found.push([index, count]);
  return found.sort(([, a], [, b]) => b - a);
}
