import { beforeAll, expect, test } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import { Session, Tensor } from './index.ts';

// A product has a kernel for each kind of sizes.
const PROGRAM = `def @main(%a: Tensor[(n, m), float32], %b: Tensor[(m, n), float32])
    -> Tensor[(n, n), float32] {
  tanh(matmul(%a, %b))
}`;

let program: Uint8Array;
beforeAll(async () => {
  program = compile(parseModule(PROGRAM)).toBytes();
});

/** A session, and how many pipelines were asked for so far. */
async function load(options: { compile?: 'ahead' | 'on demand' }) {
  const gpu = await nodeGpu();
  let created = 0;
  const counted: GPU = Object.create(gpu, {
    requestAdapter: {
      value: async () => {
        const adapter = await gpu.requestAdapter();
        const requestDevice = adapter?.requestDevice.bind(adapter);
        return Object.assign(adapter ?? {}, {
          async requestDevice(descriptor: GPUDeviceDescriptor) {
            const device = await requestDevice?.(descriptor);
            const create = device?.createComputePipelineAsync.bind(device);
            return Object.assign(device ?? {}, {
              createComputePipelineAsync(pipeline: GPUComputePipelineDescriptor) {
                created++;
                return create?.(pipeline);
              },
              createComputePipeline() {
                throw new Error('a pipeline in the middle of a call');
              },
            });
          },
        });
      },
    },
  });
  const session = await Session.load(program, { device: 'webgpu', gpu: counted, ...options });
  return { session, created: () => created };
}

/** The product of matrices of 0.1. */
async function run(session: Session, n: number, m: number): Promise<void> {
  const a = new Tensor('float32', new Float32Array(n * m).fill(0.1), [n, m]);
  const b = new Tensor('float32', new Float32Array(n * m).fill(0.1), [m, n]);
  const [result] = Object.values(await session.run({ a, b }));
  expect(result?.shape).toEqual([n, n]);
  for (const element of result?.data ?? []) {
    expect(element).toBeCloseTo(Math.tanh(m * 0.01), 5);
  }
}

const SIZES = [
  [1, 1],
  [3, 5],
  [17, 63],
  [64, 64],
  [65, 4],
] as const;

test('ahead: most runs create no pipeline, none does in its middle', async () => {
  const { session, created } = await load({ compile: 'ahead' });
  const before = created();
  expect(before).toBeGreaterThan(1);
  for (const n of [1, 4, 32, 256]) await run(session, n, n);
  expect(created()).toBe(before);
  for (const [n, m] of SIZES) await run(session, n, m);
  await session.dispose();
});

test('on demand: a run waits for its pipelines before it launches, sizes of one kind share them', async () => {
  const { session, created } = await load({});
  expect(created()).toBe(0);
  for (const [n, m] of SIZES) await run(session, n, m);
  const before = created();
  expect(before).toBeGreaterThan(1);
  for (const [n, m] of SIZES) await run(session, n, m);
  await run(session, 68, 64);
  expect(created()).toBe(before);
  await session.dispose();
});
