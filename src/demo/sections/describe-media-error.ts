import { describeError } from '../../core/format-quantity.ts';

/** A device of the visitor's that a page has to ask for. */
type MediaDevice = 'camera' | 'microphone';

/** In words of a visitor, why `getUserMedia` gave no device, and what there is in its place; other errors as they are. */
export function describeMediaError(error: unknown, device: MediaDevice, instead: string): string {
  // Browsers leave it out of pages that are not secure.
  if (globalThis.navigator?.mediaDevices === undefined) {
    return `Browsers give the ${device} only to pages at https: or localhost. ${instead}`;
  }
  const reasons: Readonly<Record<string, string>> = {
    NotFoundError: `There is no ${device} here.`,
    NotAllowedError: `This page may not use the ${device}: the browser's settings of this site can allow it.`,
    NotReadableError: `The ${device} does not answer: another program may be using it.`,
  };
  const reason = error instanceof DOMException ? reasons[error.name] : undefined;
  return reason === undefined ? describeError(error) : `${reason} ${instead}`;
}

/**
 * Turns the camera on until the signal is aborted, and gives a function that takes a picture. Rejects where there is none, or
 * nobody allows it.
 */
export async function openCamera(signal: AbortSignal): Promise<() => Promise<ImageBitmap>> {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment' },
  });
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop();
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  await video.play();
  return () => createImageBitmap(video);
}
