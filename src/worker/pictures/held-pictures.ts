import { UsageError } from '../../core/errors.ts';
import { cutRectangle } from '../../core/pictures/cut-rectangle.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import type { PictureOwner } from './picture-owner.ts';
import { WorkerPicture } from './worker-picture.ts';

type HoldRequest = Extract<ControlRequest, { readonly kind: 'hold' | 'pixels' | 'drop' }>;

/** Holds a picture, gives its pixels, or frees it. */
export async function holdPicture(
  { held, hosted }: PictureOwner,
  request: HoldRequest,
): Promise<WireResult[]> {
  const { picture: id } = request;
  if (request.kind === 'hold') {
    held.set(id, new WorkerPicture(request.source, hosted));
    return [];
  }
  if (request.kind === 'drop') {
    held.get(id)?.close();
    held.delete(id);
    return [];
  }
  const whole = await heldPicture(held, id).pixels();
  const parts = request.rectangles?.map((rectangle) => cutRectangle(whole, rectangle));
  return (parts ?? [copied(whole)]).map(toResult);
}

/** Throws UsageError for a number under which nothing is held. */
export function heldPicture(held: PictureOwner['held'], id: number): WorkerPicture {
  const picture = held.get(id);
  if (picture !== undefined) return picture;
  throw new UsageError({ where: 'picture', got: 'one that was dropped', expected: 'a held one' });
}

/** A copy, because pixels that go to the page are transferred. */
const copied = ({ width, height, data }: Rgb): Rgb => ({ width, height, data: data.slice() });

function toResult({ width, height, data }: Rgb): WireResult {
  const shape = [height, width, 3];
  return { name: 'pixels', value: { kind: 'tensor', dtype: 'uint8', shape, data } };
}
