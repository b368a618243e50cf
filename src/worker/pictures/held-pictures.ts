import { UsageError } from '../../core/errors.ts';
import { cutRectangle } from '../../core/pictures/cut-rectangle.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import type { PictureOwner } from './picture-owner.ts';
import { WorkerPicture } from './worker-picture.ts';

type HoldRequest = Extract<ControlRequest, { readonly kind: 'hold' | 'pixels' | 'drop' }>;

const held = new WeakMap<object, Map<number, WorkerPicture>>();

/** Holds a picture, gives its pixels, or frees it. */
export async function holdPicture(
  { key, hosted }: PictureOwner,
  request: HoldRequest,
): Promise<WireResult[]> {
  const { picture: id } = request;
  if (request.kind === 'hold') {
    const own = held.get(key) ?? new Map<number, WorkerPicture>();
    held.set(key, own.set(id, new WorkerPicture(request.source, hosted)));
    return [];
  }
  if (request.kind === 'drop') {
    held.get(key)?.get(id)?.close();
    held.get(key)?.delete(id);
    return [];
  }
  const whole = await heldPicture(key, id).pixels();
  const parts = request.rectangles?.map((rectangle) => cutRectangle(whole, rectangle));
  return (parts ?? [copied(whole)]).map(toResult);
}

/** Throws UsageError for a number under which nothing is held. */
export function heldPicture(key: object, id: number): WorkerPicture {
  const picture = held.get(key)?.get(id);
  if (picture !== undefined) return picture;
  throw new UsageError({ where: 'picture', got: 'one that was dropped', expected: 'a held one' });
}

/** A copy, because pixels that go to the page are transferred. */
const copied = ({ width, height, data }: Rgb): Rgb => ({ width, height, data: data.slice() });

function toResult({ width, height, data }: Rgb): WireResult {
  const shape = [height, width, 3];
  return { name: 'pixels', value: { kind: 'tensor', dtype: 'uint8', shape, data } };
}
