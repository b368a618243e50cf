import { BUFFER_USAGE } from '../memory/buffer-usage.ts';

const CODE = `@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = id.x; }`;
const WORKGROUPS = 64;
const BYTE_LENGTH = WORKGROUPS * 64 * 4;

/**
 * Resolves when a new device has run a kernel: beside one that is stuck it may be made and never run
 * anything, since the endless kernel has all processors of a software adapter, or the whole GPU.
 */
export async function probeDevice(device: GPUDevice): Promise<void> {
  const module = device.createShaderModule({ code: CODE });
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module, entryPoint: 'main' },
  });
  const buffer = device.createBuffer({ size: BYTE_LENGTH, usage: BUFFER_USAGE.storage });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer } }],
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(WORKGROUPS);
  pass.end();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  buffer.destroy();
}
