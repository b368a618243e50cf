import type { Launch, LaunchPlan } from '../../../core/contracts/launch-plan.ts';

/** A device of a browser or of Dawn in Node. */
export interface WithDevice {
  readonly device: GPUDevice;
}

const STORAGE = 0x80 | 0x4 | 0x8; // STORAGE, COPY_SRC, COPY_DST
const UNIFORM = 0x40 | 0x8; // UNIFORM, COPY_DST
const COMPUTE = 0x4;

/** A storage buffer with contents. */
export function storageBuffer(
  gpu: WithDevice,
  data: Float32Array | Uint32Array | Int32Array | Uint16Array,
): GPUBuffer {
  const buffer = gpu.device.createBuffer({ size: Math.max(16, data.byteLength), usage: STORAGE });
  gpu.device.queue.writeBuffer(buffer, 0, data.slice());
  return buffer;
}

/** A plan whose pipelines and bind groups exist. */
export interface PreparedPlan {
  /** Runs the plan `repeats` times and resolves to the milliseconds of one. */
  run(repeats?: number): Promise<number>;
  readonly compileMs: number;
  /** Frees its temporary memory. */
  destroy(): void;
}

interface PlanStep {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
}

/** Compiles a plan over argument buffers. Throws with Dawn's message when a shader is wrong. */
export async function preparePlan(
  gpu: WithDevice,
  plan: LaunchPlan,
  args: readonly GPUBuffer[],
): Promise<PreparedPlan> {
  const { device } = gpu;
  const start = performance.now();
  const scratch = plan.scratchByteLengths.map((byteLength) =>
    device.createBuffer({ size: Math.max(16, byteLength), usage: STORAGE }),
  );
  const uniforms: GPUBuffer[] = [];
  device.pushErrorScope('validation');
  const steps: PlanStep[] = [];
  for (const launch of plan.launches) {
    const module = device.createShaderModule({ code: launch.code, label: launch.label });
    const { messages } = await module.getCompilationInfo();
    const [error] = messages.filter(({ type }) => type === 'error');
    if (error !== undefined) {
      const line = launch.code.split('\n')[error.lineNum - 1];
      throw new Error(`${launch.label}: ${error.message} in: ${line}`);
    }
    const pipeline = await device.createComputePipelineAsync({
      layout: pipelineLayout(device, launch),
      compute: { module, entryPoint: 'main' },
    });
    const entries: GPUBindGroupEntry[] = launch.bindings.map(({ buffer }, i) => {
      const bound = buffer.kind === 'argument' ? args[buffer.index] : scratch[buffer.index];
      if (bound === undefined) throw new Error(`no ${buffer.kind} buffer ${buffer.index}`);
      return { binding: i + 1, resource: { buffer: bound } };
    });
    if (launch.params.length > 0) {
      const size = Math.ceil(launch.params.byteLength / 16) * 16;
      const uniform = device.createBuffer({ size, usage: UNIFORM });
      device.queue.writeBuffer(uniform, 0, launch.params.slice());
      uniforms.push(uniform);
      entries.push({ binding: 0, resource: { buffer: uniform } });
    }
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    steps.push({ pipeline, group, workgroups: launch.workgroups });
  }
  const fault = await device.popErrorScope();
  if (fault !== null) throw new Error(fault.message);
  return {
    compileMs: performance.now() - start,
    async run(repeats = 1) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let i = 0; i < repeats; i++) {
        for (const { pipeline, group, workgroups } of steps) {
          pass.setPipeline(pipeline);
          pass.setBindGroup(0, group);
          pass.dispatchWorkgroups(...workgroups);
        }
      }
      pass.end();
      const begin = performance.now();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      return (performance.now() - begin) / repeats;
    },
    destroy() {
      for (const buffer of [...scratch, ...uniforms]) buffer.destroy();
    },
  };
}

/** Stated, since Dawn does not share equal pipelines whose layouts are `auto`. */
function pipelineLayout(device: GPUDevice, { params, bindings }: Launch): GPUPipelineLayout {
  const entry = (binding: number, type: GPUBufferBindingType): GPUBindGroupLayoutEntry => ({
    binding,
    visibility: COMPUTE,
    buffer: { type },
  });
  const entries = bindings.map(({ access }, i) =>
    entry(i + 1, access === 'read' ? 'read-only-storage' : 'storage'),
  );
  if (params.length > 0) entries.push(entry(0, 'uniform'));
  return device.createPipelineLayout({
    bindGroupLayouts: [device.createBindGroupLayout({ entries })],
  });
}

/** The words of a buffer, in host memory. */
export async function readBuffer(gpu: WithDevice, buffer: GPUBuffer): Promise<ArrayBuffer> {
  const { device } = gpu;
  const staging = device.createBuffer({ size: buffer.size, usage: 0x1 | 0x8 }); // MAP_READ, COPY_DST
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  const bytes = staging.getMappedRange().slice(0);
  staging.destroy();
  return bytes;
}
