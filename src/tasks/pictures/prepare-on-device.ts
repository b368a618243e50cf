import { transfer } from 'comlink';
import { checkOptions, requireKind } from '../../core/check-options.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { internalError, UnsupportedError } from '../../core/errors.ts';
import type { ControlReply, ControlRequest } from '../../worker/protocol/control-request.ts';
import type { CallOptions } from '../task-options.ts';
import type { PictureBatch } from './picture-batch.ts';
import { PICTURE_OPTIONS, type PictureOptions } from './picture-options.ts';
import type { PicturePlace } from './picture-place.ts';
import type { Picture } from './pixels.ts';
import { nameOf } from './prepare-pictures.ts';
import { discardPictures, replyOf, sentPicture } from './send-picture.ts';

/** Pictures on the device of a session. */
export interface PicturesOnDevice {
  /** (pictures, channels, rows, columns), or with channels last. Dispose of it. */
  readonly tensor: DeviceTensor;
  /** Where each picture lies in the tensor's rows and columns. */
  readonly places: readonly PicturePlace[];
}

/**
 * As `preparePictures`, where a session is and for its inputs, with the same elements: the picture goes to the worker as it is. On WebGPU it is
 * resized and normalised by shaders, on other devices, and where it is too large for that, by the processor. Pixels are copied
 * once on their way. A GPUTexture of the device that the session was loaded with (`gpu`) is read where it lies, in
 * the order of submissions; it stays the page's, and must live until this resolves. Rejects as `preparePictures` does, and with
 * UnsupportedError for a session that is remote.
 */
export async function preparePicturesOnDevice(
  session: Session,
  pictures: readonly Picture[],
  options: PictureOptions = {},
): Promise<PicturesOnDevice> {
  checkOptions('preparePicturesOnDevice', options, PICTURE_OPTIONS);
  const { tensor, places } = await prepareFor(session, pictures, { options, keep: 'device' });
  if (!(tensor instanceof Tensor)) return { tensor, places };
  throw new UnsupportedError({
    where: 'preparePicturesOnDevice',
    got: 'a session on a remote device',
    expected: 'one on a device of this machine',
    remedy: 'preparePictures makes a tensor of pictures for it.',
  });
}

/** Pictures where a run finds them. */
interface PicturesForRun {
  readonly tensor: Tensor | DeviceTensor;
  readonly places: readonly PicturePlace[];
}

/** How pictures are prepared for a task. */
interface PrepareOptions extends CallOptions {
  /** With a list each picture has its own; dtype, layout and channels are the same for all. */
  readonly options: PictureOptions | readonly PictureOptions[];
  /** `device`: not for the page where the session shares its device. */
  readonly keep?: 'device' | undefined;
  /** Pixels are nobody's afterwards: they are handed over, not copied. */
  readonly isLast?: boolean | undefined;
}

/**
 * Pictures for a run of a session, prepared where the session is: in the worker, in this thread for `worker: false`. To a remote
 * device go elements alone, so that pictures for one are prepared in this thread. The tensor has to be disposed of where it is on the device.
 */
export async function prepareFor(
  session: Session,
  pictures: readonly Picture[],
  { options, signal, keep, isLast = false }: PrepareOptions,
): Promise<PicturesForRun> {
  requireKind('pictures', 'list', ['what is', pictures]);
  signal?.throwIfAborted();
  const outcomes = await Promise.allSettled(
    pictures.map((picture, i) => sentPicture(session, picture, nameOf(i, pictures))),
  );
  const sent = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  );
  let batch: PictureBatch;
  try {
    const { pictureBatch } = await import('./picture-batch.ts');
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    batch = pictureBatch(
      sent.map(({ source }) => source),
      options,
    );
  } catch (error) {
    discardPictures(sent);
    throw error;
  }
  const { dtype, shape, steps, places } = batch;
  const prepared = sent.flatMap(({ source }, i) => {
    const own = steps[i];
    return own === undefined ? [] : [{ source, steps: own }];
  });
  const request = { kind: 'prepare', pictures: prepared, dtype, shape, keep, args: [] } as const;
  const transfers = sent.flatMap((picture) =>
    isLast && 'data' in picture.source ? [picture.source.data.buffer] : picture.transfers,
  );
  const reply = await replyOf(askForTensor(session, transfer(request, transfers), signal), sent);
  return { tensor: tensorIn(reply, session), places };
}

/** A tensor that comes too late is disposed of. */
export function askForTensor(
  session: Session,
  request: ControlRequest,
  signal: AbortSignal | undefined,
): Promise<ControlReply> {
  const discard = (late: ControlReply): void => {
    for (const tensor of tensorsIn(late, session)) {
      if (tensor instanceof DeviceTensor) tensor.dispose();
    }
  };
  return session.control(request, { signal, discard });
}

export function tensorIn(reply: ControlReply, session: Session): Tensor | DeviceTensor {
  const [first] = tensorsIn(reply, session);
  if (first !== undefined) return first;
  throw internalError('no tensor of pictures');
}

export function tensorsIn({ results }: ControlReply, session: Session): (Tensor | DeviceTensor)[] {
  return results.map(({ value }) => {
    if (value.kind === 'tensor') return new Tensor(value.dtype, value.data, value.shape);
    if (value.kind === 'handle') return new DeviceTensor(session, value.handle, value);
    throw internalError('no tensor of pictures');
  });
}
