import { transfer } from 'comlink';
import type { DeviceTensor } from '../../../client/values/device-tensor.ts';
import type { Session } from '../../../client/session.ts';
import type { Tensor } from '../../../client/values/tensor.ts';
import type { RegionSteps } from '../../../core/pictures/sample-region.ts';
import type { Size } from '../../pictures/picture-options.ts';
import type { Picture } from '../../pictures/pixels.ts';
import { askForTensor, tensorsIn } from '../../pictures/prepare-on-device.ts';
import { replyOf, sentPicture } from '../../pictures/send-picture.ts';
import type { CallOptions } from '../../task-options.ts';

/** What regions are asked for: they depend on the size of the picture. */
type RegionsOf = (size: Size) => readonly RegionSteps[];

/** Regions of a picture as inputs of a model; those on a device have to be disposed of. */
export interface SampledRegions {
  readonly tensors: readonly (Tensor | DeviceTensor)[];
  readonly size: Size;
}

/**
 * Regions of a picture as tensors where a session is: on WebGPU by a shader, with nothing read back, else by the processor there.
 * Rejects as `preparePictures` does, and with the reason of the signal.
 */
export async function sampleRegions(
  session: Session,
  picture: Picture,
  regionsOf: RegionsOf,
  { signal }: CallOptions,
): Promise<SampledRegions> {
  signal?.throwIfAborted();
  const sent = await sentPicture(session, picture);
  const { source, transfers } = sent;
  const size = { width: source.width, height: source.height };
  const request = { kind: 'sample', source, regions: regionsOf(size), args: [] } as const;
  const asked = askForTensor(session, transfer(request, [...transfers]), signal);
  return { tensors: tensorsIn(await replyOf(asked, [sent]), session), size };
}
