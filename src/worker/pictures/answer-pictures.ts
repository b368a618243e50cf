import type { ControlRequest } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import { holdPicture } from './held-pictures.ts';
import type { PictureOwner } from './picture-owner.ts';
import { preparePictures } from './prepare-pictures.ts';

/** Requests of a page about pictures. */
export type PictureRequest = Extract<
  ControlRequest,
  { readonly kind: 'prepare' | 'hold' | 'pixels' | 'drop' }
>;

/** Answers where the session is, or in the page for a remote one. Rejects with the signal's reason. */
export async function answerPictures(
  owner: PictureOwner,
  request: PictureRequest,
  signal: AbortSignal,
): Promise<WireResult[]> {
  return request.kind === 'prepare'
    ? [await preparePictures(owner, request, signal)]
    : holdPicture(owner, request);
}
