import { UnsupportedError } from '../../../core/errors.ts';
import type { Launch, LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import type { Device, DeviceBuffer, DeviceTensor } from '../../device.ts';
import { openAdapter } from '../adapter.ts';
import type { KernelPlanner } from '../kernels/kernel-planner.ts';
import { WebGpuDevice } from '../webgpu-device.ts';

/** Shaders by primitive name, for tests of the device without the real planner. */
type TestKernels = Readonly<Record<string, (elementCount: number) => LaunchPlan>>;

export interface TestDevice {
  readonly device: WebGpuDevice;
  /** The device of WebGPU, on which tests cause faults. */
  readonly gpuDevice: GPUDevice;
}

/** A device whose primitives are `kernels`; a plan sees the elements of the last result. */
export async function openTestDevice(gpu: GPU, kernels: TestKernels): Promise<TestDevice> {
  const opened = await openAdapter({ gpu });
  const planner: KernelPlanner = {
    refusal: ({ name }) => (name in kernels ? undefined : `no test kernel ${name}`),
    plan(primitive, { params }) {
      const kernel = kernels[primitive.name];
      if (kernel === undefined) throw new UnsupportedError(`no test kernel ${primitive.name}`);
      return kernel(params[0]?.reduce((count, dim) => count * dim, 1) ?? 0);
    },
  };
  return { device: new WebGpuDevice(opened, planner), gpuDevice: opened.device };
}

/** A primitive over float32 vectors of one length, `n` unless given. */
export function vectorPrimitive(
  name: string,
  { inputCount = 1, length = 'n' }: { inputCount?: number; length?: number | string } = {},
): PrimitiveFunction {
  const type = { dtype: 'float32', shape: [length] } as const;
  return {
    name,
    params: Array.from({ length: inputCount }, () => type),
    body: [],
    results: [{ value: inputCount, type }],
  };
}

interface ShaderOptions {
  readonly label: string;
  /** Statements that see `i`, `params.count`, `a` and `y`. */
  readonly body: string;
  readonly elementCount: number;
  readonly bindings?: Launch['bindings'];
}

/** One launch that reads `a` and writes `y`, an invocation per element. */
export function vectorLaunch({ label, body, elementCount, bindings }: ShaderOptions): Launch {
  const code = `struct Params { count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= params.count) { return; }
  ${body}
}
`;
  return {
    label,
    code,
    bindings: bindings ?? [
      { buffer: { kind: 'argument', index: 0 }, access: 'read' },
      { buffer: { kind: 'argument', index: 1 }, access: 'read_write' },
    ],
    params: Uint32Array.of(elementCount),
    workgroups: [Math.ceil(elementCount / 64), 1, 1],
  };
}

/** `y = a + 1`, the plan of most tests. */
export function incrementPlan(elementCount: number): LaunchPlan {
  const launch = vectorLaunch({ label: 'increment', body: 'y[i] = a[i] + 1;', elementCount });
  return { launches: [launch], scratchByteLengths: [] };
}

export function floatTensor(buffer: DeviceBuffer, shape: Shape, byteOffset = 0): DeviceTensor {
  return { buffer, byteOffset, dtype: 'float32', shape };
}

/** A buffer that holds `values`. */
export function floatBuffer(device: Device, values: readonly number[]): DeviceBuffer {
  const buffer = device.createBuffer(values.length * 4);
  device.write(buffer, 0, new Uint8Array(Float32Array.from(values).buffer));
  return buffer;
}

export async function readFloats(device: Device, buffer: DeviceBuffer): Promise<number[]> {
  const [bytes] = await device.read([{ buffer, byteOffset: 0, byteLength: buffer.byteLength }]);
  return bytes === undefined ? [] : [...new Float32Array(bytes.buffer)];
}
