import type { LaunchPlan } from '../../src/core/contracts/launch-plan.ts';
import { bestRun } from './best-run.ts';
import {
  preparePlan,
  storageBuffer,
  type WithDevice,
} from '../../src/device/webgpu/testing/prepare-plan.ts';

/** The ceilings of the adapter, measured by this process. */
export interface Ceilings {
  /** Multiply-adds in registers, two operations each. */
  readonly gflops: number;
  /** Bytes read plus bytes written by a copy kernel. */
  readonly gbps: number;
}

const CHAINS = 16;
const STEPS = 16;
const ITERATIONS = 256;
const INVOCATIONS = 64 * 128;
const COPY_WORDS = 1 << 22;
/** Groups of four words per invocation. */
const COPY_GROUPS = 16;

/** Measures both ceilings, best of five. */
export async function measureCeilings(gpu: WithDevice): Promise<Ceilings> {
  const words = storageBuffer(gpu, new Float32Array(COPY_WORDS));
  const copy = storageBuffer(gpu, new Float32Array(COPY_WORDS));
  const fmaMs = await best(gpu, singleLaunch(fmaCode(), INVOCATIONS / 64, 1), [words]);
  const copyMs = await best(gpu, singleLaunch(COPY_CODE, COPY_WORDS / 4 / 64 / COPY_GROUPS, 2), [
    words,
    copy,
  ]);
  return {
    gflops: (INVOCATIONS * CHAINS * STEPS * ITERATIONS * 2) / fmaMs / 1e6,
    gbps: (COPY_WORDS * 8) / copyMs / 1e6,
  };
}

async function best(
  gpu: WithDevice,
  plan: LaunchPlan,
  buffers: readonly GPUBuffer[],
): Promise<number> {
  const prepared = await preparePlan(gpu, plan, buffers);
  const { ms } = await bestRun(prepared, { rounds: 5 });
  return ms;
}

function singleLaunch(code: string, groups: number, buffers: number): LaunchPlan {
  const bindings = Array.from({ length: buffers }, (_, index) => ({
    buffer: { kind: 'argument', index } as const,
    access: index === buffers - 1 ? ('read_write' as const) : ('read' as const),
  }));
  const launch = { label: 'ceiling', code, bindings, params: new Uint32Array() };
  return { launches: [{ ...launch, workgroups: [groups, 1, 1] }], scratchByteLengths: [] };
}

const COPY_CODE = `@group(0) @binding(1) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> target_: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let first = (id.x & ~3u) * ${COPY_GROUPS}u + (id.x & 3u);
  for (var n = 0u; n < ${COPY_GROUPS}u; n++) {
    let i = first + n * 4u;
    target_[i] = source[i];
  }
}`;

function fmaCode(): string {
  const chains = Array.from({ length: CHAINS }, (_, i) => i);
  const step = chains.map((i) => `c${i} = c${i} * y + x;`).join(' ');
  return `@group(0) @binding(1) var<storage, read_write> buffer: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let x = f32(id.x) * 1e-9;
  let y = buffer[0];
  ${chains.map((i) => `var c${i} = x + ${i}.0;`).join(' ')}
  for (var k = 0u; k < ${ITERATIONS}u; k++) {
    ${Array.from({ length: STEPS }, () => step).join('\n    ')}
  }
  buffer[id.x] = ${chains.map((i) => `c${i}`).join(' + ')};
}`;
}
