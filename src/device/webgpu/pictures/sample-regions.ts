import source from '../../../../shaders/pictures/sample-region.wgsl?raw';
import type { PictureSource } from '../../../core/pictures/picture-source.ts';
import type { RegionTarget } from '../../device.ts';
import { BUFFER_USAGE } from '../memory/buffer-usage.ts';
import { asWebGpuBuffer } from '../memory/buffers.ts';
import type { DrawContext } from './draw-tensor.ts';
import { readPicture, type ReadTexture } from './read-picture.ts';

const WORKGROUP = 8;
/** Words of the shader's struct, rounded up to whole vectors of four. */
const UNIFORM_WORDS = 16;

const pipelines = new WeakMap<GPUDevice, Promise<GPUComputePipeline>>();

/**
 * Writes regions of a picture into tensors of float32, in order with launches. The picture goes to the GPU once, and nothing is read back.
 * Faults reach the next reader.
 */
export async function sampleRegions(
  picture: PictureSource,
  targets: readonly RegionTarget[],
  context: DrawContext,
): Promise<void> {
  const pipeline = await pipelineOf(context.device);
  const { width, height } = picture;
  await readPicture(picture, [width, height], context, (read) =>
    recordRegions(read, { targets, pipeline }, context),
  );
}

function pipelineOf(device: GPUDevice): Promise<GPUComputePipeline> {
  const known = pipelines.get(device);
  if (known !== undefined) return known;
  const label = 'sample-region';
  const module = device.createShaderModule({ label, code: source });
  const compute = { module, entryPoint: 'sample_region' };
  const made = device.createComputePipelineAsync({ label, layout: 'auto', compute });
  pipelines.set(device, made);
  return made;
}

interface Recorded {
  readonly targets: readonly RegionTarget[];
  readonly pipeline: GPUComputePipeline;
}

/** Records and submits a pass, and frees all that it needs besides the texture. */
function recordRegions(
  read: ReadTexture,
  { targets, pipeline }: Recorded,
  { device, queue, faults }: DrawContext,
): void {
  const layout = pipeline.getBindGroupLayout(0);
  const parts = targets.map(({ tensor, steps }) => {
    const buffer = asWebGpuBuffer(tensor.buffer);
    const uniform = device.createBuffer({
      label: 'region',
      size: UNIFORM_WORDS * 4,
      usage: BUFFER_USAGE.uniform,
      mappedAtCreation: true,
    });
    writeRegion(uniform.getMappedRange(), steps, read);
    uniform.unmap();
    const written = { buffer: buffer.gpuBuffer, offset: tensor.byteOffset };
    const entries = [
      { binding: 0, resource: { buffer: uniform } },
      { binding: 1, resource: read.view },
      { binding: 2, resource: written },
    ];
    return { buffer, uniform, group: device.createBindGroup({ layout, entries }), ...steps };
  });
  queue.record((encoder) => {
    const pass = encoder.beginComputePass({ label: 'sample-region' });
    pass.setPipeline(pipeline);
    for (const { group, size } of parts) {
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(Math.ceil(size[0] / WORKGROUP), Math.ceil(size[1] / WORKGROUP));
    }
    pass.end();
  });
  for (const { buffer } of parts) {
    buffer.lastUse = faults.serial;
    buffer.lastWrite = faults.serial;
  }
  queue.flush();
  for (const { uniform } of parts) uniform.destroy();
}

function writeRegion(
  target: ArrayBuffer,
  { begin, across, down, factor, shift, size, isBlackOutside, isLast }: RegionTarget['steps'],
  { isLinear }: ReadTexture,
): void {
  const floats = [...begin, ...across, ...down, factor * 255, shift];
  new Float32Array(target).set(floats);
  new Uint32Array(target).set(
    [...size, Number(isBlackOutside), Number(isLast), Number(isLinear)],
    floats.length,
  );
}
