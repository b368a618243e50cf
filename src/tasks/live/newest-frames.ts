import { requireKind } from '../../core/check-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import type { CallOptions } from '../task-options.ts';

/**
 * What can be watched: a video element, a canvas that is drawn on again and again, a camera's stream, a stream of VideoFrames such as the
 * `readable` of a MediaStreamTrackProcessor, or anything that gives pictures one by one.
 */
export type Watched =
  | HTMLVideoElement
  | HTMLCanvasElement
  | MediaStream
  | ReadableStream<VideoFrame>
  | AsyncIterable<Picture>;

/** A frame, and when it was there: milliseconds of `performance.now()`. */
export interface Frame {
  readonly picture: Picture;
  readonly timeMs: number;
}

/**
 * The newest frame of what is watched, each time that one is asked for: frames in between are skipped, never queued. It ends with the video or stream,
 * and rejects with the reason of the signal. Frames of streams are closed once the next is asked for.
 */
export function newestFrames(watched: Watched, { signal }: CallOptions): AsyncGenerator<Frame> {
  const has = (name: string): boolean => name in Object(watched);
  if (has('getTracks')) return framesOfMedia(watched as MediaStream, signal);
  if (has('currentTime')) return framesOfVideo(watched as HTMLVideoElement, signal);
  if (has('getContext')) return framesOfCanvas(watched as HTMLCanvasElement, signal);
  if (has('getReader')) return framesOfStream(watched as ReadableStream<VideoFrame>, signal);
  const expected =
    'a video, a canvas, a MediaStream, a stream of VideoFrames or pictures one by one';
  requireKind(
    'watch',
    [expected, () => Symbol.asyncIterator in Object(watched)],
    ['something to watch that is', watched],
  );
  return framesOneByOne(watched as AsyncIterable<Picture>, signal);
}

/** Waits for a callback, and takes it back where the signal comes first. */
function waitFor(
  ask: (done: () => void) => () => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = ask(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Asks for the next frame that is painted. */
function nextPaint(done: () => void): () => void {
  const id = requestAnimationFrame(done);
  return () => cancelAnimationFrame(id);
}

/** Asks for the next frame of a video, or its end. */
function nextFrame(video: HTMLVideoElement): (done: () => void) => () => void {
  return (done) => {
    const asks = 'requestVideoFrameCallback' in video;
    const finish = (): void => {
      cancel();
      done();
    };
    const cancelFrame = asks
      ? (
          (id) => () =>
            video.cancelVideoFrameCallback(id)
        )(video.requestVideoFrameCallback(finish))
      : nextPaint(finish);
    video.addEventListener('ended', finish, { once: true });
    const cancel = (): void => {
      cancelFrame();
      video.removeEventListener('ended', finish);
    };
    return cancel;
  };
}

/** A video has a frame to show from this state on. */
const HAS_FRAME = 2;

async function* framesOfVideo(
  video: HTMLVideoElement,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  // What it shows already is its first frame.
  if (video.readyState < HAS_FRAME) await waitFor(nextFrame(video), signal);
  while (!video.ended) {
    signal?.throwIfAborted();
    yield { picture: video, timeMs: performance.now() };
    await waitFor(nextFrame(video), signal);
  }
}

async function* framesOfMedia(
  stream: MediaStream,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  const video = document.createElement('video');
  [video.muted, video.playsInline, video.srcObject] = [true, true, stream];
  try {
    await video.play();
    yield* framesOfVideo(video, signal);
  } finally {
    video.srcObject = null;
  }
}

async function* framesOfCanvas(
  canvas: HTMLCanvasElement,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  for (;;) {
    await waitFor(nextPaint, signal);
    yield { picture: canvas, timeMs: performance.now() };
  }
}

async function* framesOneByOne(
  pictures: AsyncIterable<Picture>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  for await (const picture of pictures) {
    signal?.throwIfAborted();
    yield { picture, timeMs: performance.now() };
  }
}

/** Reads a stream as fast as it comes, and keeps the newest frame. */
async function* framesOfStream(
  stream: ReadableStream<VideoFrame>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  const reader = stream.getReader();
  let newest: VideoFrame | undefined;
  let wake: (() => void) | undefined;
  let isOver = false;
  const read = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      newest?.close();
      newest = next.value;
      wake?.();
    }
  };
  const reading = read().finally(() => {
    isOver = true;
    wake?.();
  });
  // Whoever waits for a frame hears of a failure below.
  reading.catch(() => undefined);
  try {
    for (;;) {
      if (newest === undefined && !isOver) {
        await waitFor((done) => ((wake = done), () => undefined), signal);
      }
      signal?.throwIfAborted();
      if (newest === undefined) return await reading;
      const picture = newest;
      newest = undefined;
      try {
        yield { picture, timeMs: performance.now() };
      } finally {
        picture.close();
      }
    }
  } finally {
    newest?.close();
    await reader.cancel().catch(() => undefined);
  }
}
