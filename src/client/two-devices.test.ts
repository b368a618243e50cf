import { afterEach, describe, expect, test } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import type { RatesOfBoth } from '../core/contracts/device-rates.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createWasmDevice } from '../device/wasm/wasm-device.ts';
import { openConnection } from '../rpc/testing/open-connection.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import { ownGpu } from '../testing/own-gpu.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { createDevice } from '../worker/index.ts';
import { type LoadOptions, Session, type SessionSource, Tensor } from './index.ts';

/** Products are for WebGPU, and what is small is not. */
const RATES: RatesOfBoth = {
  webgpu: { roundTripMs: 0.1, launchMs: 1, operationsPerMs: 1e9, bytesPerMs: 1e9 },
  wasm: { roundTripMs: 0, launchMs: 1e-3, operationsPerMs: 3e3, bytesPerMs: 1e6 },
};

/** Products on WebGPU, then sums on wasm, which go back for the last product. */
const PROGRAM = `def @main(%x: Tensor[(n, 128), float32]) {
  let %a = matmul(%x, matmul(transpose(%x, perm=[1, 0]), %x));
  let %b = reduce_sum(%a, axes=[0], keepdims=true);
  let %c = softmax(add(%b, [[0.5f]]), axis=1);
  let %d = cumulative(%c, axis=1);
  let %e = softmax(cumulative(softmax(%d, axis=1), axis=1), axis=1);
  (matmul(mul(%x, %e), matmul(transpose(%x, perm=[1, 0]), %x)), %e)
}`;

const DEVICES = ['webgpu', 'wasm'] as const;

const OPTIONS = { devices: DEVICES, rates: RATES };
const executable = compile(parseModule(PROGRAM), OPTIONS);
const plain = compile(parseModule(PROGRAM)).toBytes();

const sessions: Session[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.dispose();
});

async function open(source: SessionSource, options: LoadOptions = {}): Promise<Session> {
  const gpu = await ownGpu();
  const session = await Session.load(source, { worker: false, device: 'webgpu', gpu, ...options });
  sessions.push(session);
  return session;
}

function input(rows: number): Tensor {
  const data = Float32Array.from({ length: rows * 128 }, (_, i) => ((i * 37) % 100) / 100 - 0.5);
  return new Tensor('float32', data, [rows, 128]);
}

/** Numbers of the results, by a program that is all on WebGPU. */
async function expected(x: Tensor): Promise<readonly number[]> {
  const session = await open(plain);
  return numbersOf(await session.run({ x }));
}

function numbersOf(outputs: Readonly<Record<string, unknown>>): readonly number[] {
  return Object.values(outputs).flatMap((output) =>
    output instanceof Tensor ? Array.from(output.data, Number) : [],
  );
}

function expectClose(actual: readonly number[], wanted: readonly number[]): void {
  expect(actual).toHaveLength(wanted.length);
  for (const [i, value] of actual.entries()) {
    const other = wanted[i] ?? Number.NaN;
    expect(Math.abs(value - other)).toBeLessThanOrEqual(1e-4 * Math.max(1, Math.abs(other)));
  }
}

describe('a program on WebGPU and in WebAssembly', () => {
  test('gives what it gives on one, and tells the calls and the times of both', async () => {
    const session = await open(executable.toBytes());
    expect(session.device.kind).toBe('webgpu');
    const { placements } = session;
    expect(new Set(placements.map(({ operator }) => operator))).toContain('softmax');
    expect(placements.map(({ operator }) => operator)).not.toContain('matmul');
    expect(new Set(placements.map(({ device }) => device))).toEqual(new Set(['wasm']));
    const wanted = await expected(input(3));
    // Interpreted, recorded where that can be, repeated.
    for (let run = 0; run < 4; run++) {
      expectClose(numbersOf(await session.run({ x: input(3) })), wanted);
    }
    const { kernels, outputs } = await session.profile({ x: input(3) });
    expectClose(numbersOf(outputs), wanted);
    const names = new Set(kernels.map(({ primitive }) => primitive));
    expect(names).toEqual(new Set(executable.primitives.map(({ name }) => name)));
    expect((await session.memory()).liveBytes).toBe(0);
  });

  test('goes on from a snapshot anywhere in it, on both and on one', async () => {
    const wanted = await expected(input(2));
    const x = input(2);
    for (const instruction of [8, 30, 45, 57]) {
      const session = await open(executable.toBytes());
      const paused = session.pause({ at: { function: 'main', instruction } });
      session.run({ x }).catch(() => undefined);
      await paused;
      const bytes = await session.snapshot();
      for (const device of ['webgpu', 'wasm'] as const) {
        const gpu = await ownGpu();
        const options = { executable: executable.toBytes(), worker: false, device, gpu } as const;
        const resumed = await Session.resume(bytes, options);
        expectClose(numbersOf((await resumed.resumed.runs[0]?.result()) ?? {}), wanted);
        await resumed.dispose();
      }
    }
  });

  test('shares its device', async () => {
    const wanted = await expected(input(3));
    const [first, second] = [
      await open(executable.toBytes(), { priority: 2 }),
      await open(executable.toBytes(), { pin: true }),
    ];
    const runs = Array.from({ length: 6 }, (_, i) =>
      (i % 2 === 0 ? first : second).run({ x: input(3) }),
    );
    for (const outputs of await Promise.all(runs)) expectClose(numbersOf(outputs), wanted);
    expect((await first.memory()).sharing).toMatchObject({ isResident: true, priority: 2 });
  });

  test('runs on devices that others lend', async () => {
    const wanted = await expected(input(3));
    const devices = [await createDevice('webgpu', await nodeGpu()), createWasmDevice()];
    const { remote } = await openConnection({ devices });
    const session = await Session.load(executable.toBytes(), { remote, device: 'webgpu' });
    expect(new Set(session.placements.map(({ device }) => device))).toEqual(new Set(['wasm']));
    expectClose(numbersOf(await session.run({ x: input(3) })), wanted);
    await session.dispose();
    remote.close();
    for (const device of devices) device.destroy();
  });

  test('is placed for each interval of sizes', async () => {
    const dispatch = { main: { x: { 0: [[1, 4] as const, [4, 64] as const] } } };
    const clones = compile(parseModule(PROGRAM), { ...OPTIONS, dispatch });
    const session = await open(clones.toBytes());
    for (const rows of [2, 9, 63]) {
      expectClose(numbersOf(await session.run({ x: input(rows) })), await expected(input(rows)));
    }
    expect(session.placements).not.toEqual([]);
  });
});

/** A large product, then more small kernels than two round trips take. */
function chainedModel(length: number): Uint8Array {
  const nodes = Array.from({ length }, (_, i) => {
    const attributes = { axis: 1 };
    return { op: 'Softmax', inputs: [`s${i}`], outputs: [`s${i + 1}`], attributes };
  });
  const side = 256;
  const weights = Array.from({ length: side * side }, (_, i) => ((i * 31) % 17) / 17);
  return writeOnnxModel({
    nodes: [
      { op: 'MatMul', inputs: ['a', 'w'], outputs: ['p'] },
      { op: 'ReduceSum', inputs: ['p', 'axes'], outputs: ['s0'], attributes: { keepdims: 1 } },
      ...nodes,
    ],
    inputs: [{ name: 'a', shape: [2048, side] }],
    outputs: [`s${length}`],
    initializers: {
      w: HostTensor.from('float32', [side, side], weights),
      axes: HostTensor.from('int64', [1], [0]),
    },
  });
}

test('a model is placed on both while it is loaded', async () => {
  const model = chainedModel(150);
  const session = await open(model, { devices: DEVICES });
  expect(session.device.kind).toBe('webgpu');
  const operators = session.placements.map(({ operator }) => operator);
  expect(operators).toContain('softmax');
  expect(operators).not.toContain('matmul');
  const a = new Tensor('float32', new Float32Array(2048 * 256).fill(0.25), [2048, 256]);
  const one = await open(model);
  expect(one.placements).toEqual([]);
  expectClose(numbersOf(await session.run({ a })), numbersOf(await one.run({ a })));
});

test('what was compiled before is refused', async () => {
  await expect(open(plain, { devices: DEVICES })).rejects.toThrow(
    'got an executable with the option devices, expected an ONNX model',
  );
});
