import { transfer } from 'comlink';
import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Session } from '../../client/session.ts';
import type { Tensor } from '../../client/values/tensor.ts';
import { internalError } from '../../core/errors.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';
import type { Rectangle } from '../../core/pictures/rectangle.ts';
import type { CallOptions } from '../task-options.ts';
import type { PictureOptions, Size } from './picture-options.ts';
import type { PicturePlace } from './picture-place.ts';
import type { Picture } from './pixels.ts';
import { askForTensor, tensorIn } from './prepare-on-device.ts';
import { replyOf, sentPicture } from './send-picture.ts';

/** A part of a picture that is prepared by itself. */
interface PartOptions extends CallOptions {
  /** The part of the picture. Default: all of it. */
  readonly part?: Rectangle | undefined;
}

/** One picture in a tensor, which may be on a device: then it has to be disposed of. */
export interface PreparedPart {
  readonly tensor: Tensor | DeviceTensor;
  readonly place: PicturePlace;
}

/**
 * Holds a picture as it is now where a session is: in the worker, in this thread for `worker: false` and for remote sessions. Rejects
 * as `readRgb` does, and with the reason of the signal.
 */
export async function holdPicture(
  session: Session,
  picture: Picture,
  { signal }: CallOptions,
): Promise<HeldPicture> {
  signal?.throwIfAborted();
  const sent = await sentPicture(session, picture);
  const { source, transfers } = sent;
  const held = new HeldPicture(session, source);
  const request = { kind: 'hold', picture: held.id, source, args: [] } as const;
  const reply = session.control(transfer(request, [...transfers]), {
    signal,
    discard: () => held.drop(),
  });
  await replyOf(reply, [sent]);
  return held;
}

/** A picture of which several things are asked: it goes to the session once. */
export class HeldPicture implements Size {
  static #count = 0;
  readonly width: number;
  readonly height: number;
  /** The number that the session knows it by. */
  readonly id = HeldPicture.#count++;
  readonly #session: Session;

  constructor(session: Session, { width, height }: Size) {
    this.width = width;
    this.height = height;
    this.#session = session;
  }

  /** Prepared for a run of the session. */
  async prepare(options: PictureOptions, { part, signal }: PartOptions): Promise<PreparedPart> {
    const { pictureBatch } = await import('./picture-batch.ts');
    const { dtype, shape, steps, places } = pictureBatch([part ?? this], options);
    const [own, place] = [steps[0], places[0]];
    if (own === undefined || place === undefined) throw internalError('a picture without steps');
    const pictures = [{ source: { held: this.id }, part, steps: own }];
    const request = { kind: 'prepare', pictures, dtype, shape, args: [] } as const;
    const session = this.#session;
    return { tensor: tensorIn(await askForTensor(session, request, signal), session), place };
  }

  async cut(rectangles: readonly Rectangle[], { signal }: CallOptions): Promise<readonly Rgb[]> {
    if (rectangles.length === 0) return [];
    return this.#pixels(rectangles, signal);
  }

  /** Reads all pixels back. */
  async read({ signal }: CallOptions): Promise<Rgb> {
    const [all] = await this.#pixels(undefined, signal);
    if (all === undefined) throw internalError('a picture without pixels');
    return all;
  }

  async #pixels(
    rectangles: readonly Rectangle[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly Rgb[]> {
    const request = { kind: 'pixels', picture: this.id, rectangles, args: [] } as const;
    const { results } = await this.#session.control(request, { signal });
    return results.map(({ value }): Rgb => {
      if (value.kind !== 'tensor' || !(value.data instanceof Uint8Array)) {
        throw internalError('no pixels');
      }
      const [height = 0, width = 0] = value.shape;
      return { width, height, data: value.data };
    });
  }

  /** Frees the picture in the session. */
  drop(): void {
    const dropped = this.#session.control({ kind: 'drop', picture: this.id, args: [] });
    // A session that is over holds nothing.
    dropped.catch(() => undefined);
  }
}
