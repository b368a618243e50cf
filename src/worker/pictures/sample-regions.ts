import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import { regionShape, sampleRegion } from '../../core/pictures/sample-region.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { TensorValue } from '../../runtime/values/value.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import { handOver } from '../tools/hand-over.ts';
import { isSmallEnough } from './prepare-on-gpu.ts';
import { type PictureOwner, WorkerPicture } from './worker-picture.ts';

type SampleRequest = Extract<ControlRequest, { readonly kind: 'sample' }>;

/**
 * A tensor of each region of a picture: by a shader where the device has it and the picture is no larger than a texture, else by the
 * processor of this thread. Takes bitmaps over.
 */
export async function sampleRegions(
  { hosted }: PictureOwner,
  { source, regions }: SampleRequest,
): Promise<WireResult[]> {
  const picture = new WorkerPicture(source, hosted);
  try {
    // A tensor on a shared device may be gone before the run that it is for.
    const isForPage = !hosted || (hosted.shared && !isGpuTexture(source));
    if (!isForPage && isSmallEnough(source)) {
      const tensors = await sampleOnGpu(hosted, { source, regions });
      if (tensors !== undefined) return await Promise.all(tensors.map((one) => held(hosted, one)));
    }
    const pixels = await picture.read();
    const made = regions.map((steps): HostTensor => {
      return new HostTensor('float32', regionShape(steps), sampleRegion(pixels, steps));
    });
    if (!isForPage) {
      return await Promise.all(made.map((tensor) => held(hosted, hosted.machine.tensor(tensor))));
    }
    return made.map(({ dtype, shape, data }) => ({
      name: 'region',
      value: { kind: 'tensor', dtype, shape, data },
    }));
  } finally {
    picture.close();
  }
}

const held = async (hosted: HostedSession, tensor: TensorValue): Promise<WireResult> => ({
  name: 'region',
  value: await handOver(hosted, tensor),
});

/** Undefined where the device has no shaders. The caller owns a reference of each. */
async function sampleOnGpu(
  { machine, device: shared }: HostedSession,
  { source, regions }: Pick<SampleRequest, 'source' | 'regions'>,
): Promise<readonly TensorValue[] | undefined> {
  const { state } = machine.internals();
  const allocator = state.allocator(0);
  const { pictures, queue } = allocator.device;
  if (pictures === undefined) return undefined;
  const tensors: TensorValue[] = [];
  try {
    const targets = regions.map((steps) => {
      const shape = regionShape(steps);
      const tensor = state.allocateTensor(allocator, { dtype: 'float32', shape });
      machine.retain(tensor);
      tensors.push(tensor);
      return { tensor, steps };
    });
    await shared.share(async () => {
      await pictures.sample(source, targets);
      await queue?.settle();
    });
  } catch (error) {
    for (const tensor of tensors) machine.release(tensor);
    throw error;
  }
  return tensors;
}
