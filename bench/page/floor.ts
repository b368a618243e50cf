import type { BenchCase } from '../cases/bench-case.ts';
import { elements, type Output, type Running } from './runtime.ts';

/** Adds one to 64 elements: about the least that a launch can do. */
const LAUNCH_CODE = `@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) id: u32) { data[id] += 1.0; }`;
const LAUNCH_BYTE_LENGTH = 256;

/**
 * The floor of every runtime, in this page's own calls of WebGPU: the inputs go up, as many
 * dependent launches as the case needs do next to nothing, outputs of the same sizes come back.
 */
export async function startFloor(
  { inputs }: BenchCase,
  outputs: readonly Output[],
  launches: number,
): Promise<Running> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error('this browser has no WebGPU adapter');
  const device = await adapter.requestDevice();
  const data = inputs.map(({ url }) => elements.get(url) ?? new ArrayBuffer());
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const buffer = (size: number, usage: number): GPUBuffer => device.createBuffer({ size, usage });
  const sources = data.map(({ byteLength }) => buffer(toWords(byteLength), STORAGE | COPY_DST));
  const byteLengths = outputs.map(({ data }) => toWords((data as Float32Array).byteLength));
  const results = byteLengths.map((byteLength) => buffer(byteLength, STORAGE | COPY_SRC));
  const staging = byteLengths.map((byteLength) => buffer(byteLength, MAP_READ | COPY_DST));
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code: LAUNCH_CODE }) },
  });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer: buffer(LAUNCH_BYTE_LENGTH, STORAGE) } }],
  });

  async function run(): Promise<Output[]> {
    sources.forEach((source, i) => {
      const bytes = data[i] ?? new ArrayBuffer();
      device.queue.writeBuffer(source, 0, bytes, 0, bytes.byteLength & ~3);
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    for (let i = 0; i < launches; i++) pass.dispatchWorkgroups(1);
    pass.end();
    results.forEach((result, i) => {
      const target = staging[i];
      if (target) encoder.copyBufferToBuffer(result, 0, target, 0, result.size);
    });
    device.queue.submit([encoder.finish()]);
    await Promise.all(staging.map((target) => target.mapAsync(MAP_READ)));
    return staging.map((target, i) => {
      const copy = target.getMappedRange().slice(0);
      target.unmap();
      return { data: new Float32Array(copy), shape: outputs[i]?.shape ?? [] };
    });
  }
  return { run };
}

function toWords(byteLength: number): number {
  return Math.max(4, Math.ceil(byteLength / 4) * 4);
}

const PAGE_BYTES = 65_536;

/**
 * The floor of runtimes on the processor: the inputs, the weights and the outputs of the case are read
 * and written once, half as many bytes each. A copy within a linear memory, by the engine's own move.
 */
export function startCopy({ inputs, weights }: BenchCase, outputs: readonly Output[]): Running {
  const given = [...inputs, ...weights].map(({ url }) => elements.get(url)?.byteLength ?? 0);
  const made = outputs.map(({ data }) => (data as Float32Array).byteLength);
  const byteLength = Math.ceil([...given, ...made].reduce((sum, length) => sum + length, 0) / 2);
  const stride = Math.ceil(byteLength / PAGE_BYTES) * PAGE_BYTES;
  const memory = new WebAssembly.Memory({ initial: (2 * stride) / PAGE_BYTES });
  const bytes = new Uint8Array(memory.buffer).fill(1);
  return {
    run() {
      bytes.copyWithin(stride, 0, byteLength);
      return Promise.resolve([]);
    },
  };
}
