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
