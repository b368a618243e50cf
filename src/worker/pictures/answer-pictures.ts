import { handOver } from '../tools/hand-over.ts';
import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import { cutRectangle } from '../../core/pictures/cut-rectangle.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostedSession, HostedTools, RequestContext } from '../host/hosted-session.ts';
import type { ControlReply, ControlRequest, PreparedPicture } from '../protocol/control-request.ts';
import type { WireResult, WireValue } from '../protocol/wire-value.ts';
import { fitsGpu, hasShaders, prepareOnGpu } from './prepare-on-gpu.ts';
import { type PictureOwner, WorkerPicture } from './worker-picture.ts';
import { UsageError } from '../../core/errors.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';

type HoldRequest = Extract<ControlRequest, { readonly kind: 'hold' | 'pixels' | 'drop' }>;

/** Holds a picture, gives its pixels, or frees it. */
async function holdPicture(
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
function heldPicture(held: PictureOwner['held'], id: number): WorkerPicture {
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

export type PictureRequest = Extract<
  ControlRequest,
  { readonly kind: 'prepare' | 'sample' | 'hold' | 'pixels' | 'drop' }
>;

/** The pictures of a session. A file of its own, loaded with the first of them. */
export class SessionPictures implements HostedTools {
  readonly #owner: PictureOwner;

  constructor(hosted: HostedSession) {
    this.#owner = { held: new Map(), hosted };
  }

  async answer(
    request: ControlRequest,
    _: unknown,
    { signal }: RequestContext,
  ): Promise<ControlReply> {
    const results = await answerPictures(this.#owner, request as PictureRequest, signal);
    return { calls: [], results, note: '' };
  }
}

/** Answers where the session is, or in the page for a remote one. Rejects with the signal's reason. */
export async function answerPictures(
  owner: PictureOwner,
  request: PictureRequest,
  signal: AbortSignal,
): Promise<WireResult[]> {
  if (request.kind === 'prepare') return [await preparePictures(owner, request, signal)];
  if (request.kind !== 'sample') return holdPicture(owner, request);
  const { sampleRegions } = await import('./sample-regions.ts');
  return sampleRegions(owner, request);
}

type PrepareRequest = Extract<ControlRequest, { readonly kind: 'prepare' }>;

interface OpenedPicture extends Omit<PreparedPicture, 'source'> {
  readonly picture: WorkerPicture;
}

/**
 * A tensor of pictures: by shaders where the device has such and all of them fit, else by the processor of this thread. Takes bitmaps
 * over; textures stay the page's. Rejects with the signal's reason.
 */
async function preparePictures(
  owner: PictureOwner,
  request: PrepareRequest,
  signal: AbortSignal,
): Promise<WireResult> {
  const own: WorkerPicture[] = [];
  const open = ({ source, ...rest }: PreparedPicture): OpenedPicture => {
    if ('held' in source) return { picture: heldPicture(owner.held, source.held), ...rest };
    const picture = new WorkerPicture(source, owner.hosted);
    own.push(picture);
    return { picture, ...rest };
  };
  try {
    const pictures = request.pictures.map(open);
    const value = await prepared(owner, pictures, { request, signal });
    return { name: 'pictures', value };
  } finally {
    for (const picture of own) picture.close();
  }
}

async function prepared(
  { hosted }: PictureOwner,
  pictures: readonly OpenedPicture[],
  { request, signal }: { readonly request: PrepareRequest; readonly signal: AbortSignal },
): Promise<WireValue> {
  const { dtype, shape, keep } = request;
  const isTexture = pictures.some(({ picture }) => isGpuTexture(picture.source));
  // A tensor on a shared device may be gone before the run that it is for, which is repeated with tensors of the page.
  const isForPage = !hosted || (hosted.shared && keep === undefined && !isTexture);
  const fits = ({ picture, part, steps }: OpenedPicture): boolean =>
    part === undefined && !picture.isRead && fitsGpu(steps);
  if (!isForPage && hasShaders(hosted) && pictures.every(fits)) {
    const sources = pictures.map(({ picture, steps }) => ({ source: picture.source, steps }));
    return handOver(hosted, await prepareOnGpu(hosted, sources, { dtype, shape }));
  }
  const { PreparedElements } = await import('../../core/pictures/prepare-elements.ts');
  const elements = new PreparedElements(pictures.map(({ steps }) => steps));
  for (const [i, { picture, part }] of pictures.entries()) {
    signal.throwIfAborted();
    const whole = await picture.pixels();
    elements.write(i, part === undefined ? whole : cutRectangle(whole, part));
  }
  const { data } = elements;
  if (isForPage) return { kind: 'tensor', dtype, shape, data };
  return handOver(hosted, hosted.machine.tensor(new HostTensor(dtype, shape, data)));
}
