import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import type { PicturePlace } from '../pictures/picture-place.ts';
import { type Box, clipped, type ScoredBox } from '../results/boxes.ts';
import { numbersOf } from '../results/numbers.ts';
import type { Mask } from '../segmentation/segmentation.ts';

/** Results of a detector for one picture. */
export interface DetectorOutputs {
  readonly outputs: Readonly<Record<string, Tensor>>;
  readonly place: PicturePlace;
  /** Things that are less sure are left out. */
  readonly threshold: number;
}

/** A key point of a thing, such as an elbow, in pixels of the picture. */
export interface KeyPoint {
  /** Pixels from the left edge of the picture. */
  readonly x: number;
  /** Pixels from the top edge of the picture. */
  readonly y: number;
  /** How sure the model is that it is seen, from 0 to 1. */
  readonly score: number;
}

/** A thing that may be one of several boxes around the same. */
export interface Candidate extends ScoredBox {
  readonly mask?: (() => Mask) | undefined;
  readonly points?: readonly KeyPoint[];
  readonly corners?: readonly Point[];
}

/** Things that a detector has found, before those that overlap are removed. */
export interface Candidates {
  readonly candidates: readonly Candidate[];
  /** Classes that things may have, where the outputs tell. */
  readonly classes?: number;
}

/** Left, top, right and bottom in pixels of the model's picture. */
export type Corners = readonly [left: number, top: number, right: number, bottom: number];

export function cornersAround(x: number, y: number, width: number, height: number): Corners {
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
}

/** A box of the model's picture in the picture itself. */
export function boxIn(place: PicturePlace, corners: Corners): Box {
  const [left, top] = place.toSource(corners[0], corners[1]);
  const [right, bottom] = place.toSource(corners[2], corners[3]);
  return clipped({ left, top, width: right - left, height: bottom - top }, place.source);
}

/**
 * Shares of a picture end with 1, and boxes of rounded numbers a little behind it. No box in pixels
 * is as small.
 */
export const MOST_SHARE = 2;

/** The dimensions and numbers of an output for one picture. Throws ShapeError for other dimensions. */
export function matrixOf(tensor: Tensor | undefined, name: string, width?: number) {
  const [batch, rows = 0, columns = 0] = tensor?.shape ?? [];
  const isMatrix = tensor?.shape.length === 3 && batch === 1;
  if (tensor === undefined || !isMatrix || (width !== undefined && columns !== width)) {
    throw new ShapeError({
      where: `output ${name}`,
      got: tensor === undefined ? 'none' : `[${tensor.shape.join(', ')}]`,
      expected: `[1, places, ${width ?? 'classes'}]`,
    });
  }
  return { numbers: numbersOf(tensor), rows, columns };
}
