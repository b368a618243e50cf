import { expect, test } from 'vitest';
import { Session, Tensor } from '../../src/client/index.ts';
import { Session as SourceSession } from '../../src/client/session.ts';
import { compile, parseModule } from '../../src/frontend/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { seededRandom } from '../../src/core/random.ts';

/** Products, rows and a mean, each of which variants of kernels sum in another order. */
const PROGRAM = `def @main(%x: Tensor[(n, 300), float32], %w: Tensor[(300, 96), float32])
    -> (Tensor[(n, 96), float32], Tensor[(n,), float32]) {
  let %y = softmax(matmul(%x, %w));
  (%y, reduce_sum(%x, axes=[1]))
}`;

const random = seededRandom(5);
const tensor = (...shape: number[]) => {
  const count = shape.reduce((product, dim) => product * dim, 1);
  return new Tensor(
    'float32',
    Float32Array.from({ length: count }, () => random() - 0.5),
    shape,
  );
};

const inputs = { x: tensor(70, 300), w: tensor(300, 96) };
const executable = compile(parseModule(PROGRAM)).toBytes();

async function load(device: 'host' | 'webgpu'): Promise<Session> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  return Session.load(executable.slice(), { device, ...gpu, worker: false });
}

async function results(session: Session): Promise<readonly (readonly number[])[]> {
  return Object.values(await session.run(inputs)).map(({ data }) => Array.from(data, Number));
}

function expectClose(actual: readonly (readonly number[])[], expected: typeof actual): void {
  expect(actual.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  for (const [i, row] of expected.entries()) {
    for (const [j, value] of row.entries()) expect(actual[i]?.[j]).toBeCloseTo(value, 4);
  }
}

test('sessions are those of the built package', () => {
  expect(Session).not.toBe(SourceSession);
});

test('a session of the built package gives on WebGPU what it gives on the host, every time', async () => {
  const [host, webgpu] = [await load('host'), await load('webgpu')];
  const expected = await results(host);
  // From the third run on it is a recording that runs.
  for (let i = 0; i < 4; i++) expectClose(await results(webgpu), expected);
  await host.dispose();
  await webgpu.dispose();
});

test('tuning accepts variants of the built package that round differently', async () => {
  const session = await load('webgpu');
  const before = await results(session);
  const { kernels } = await session.tune();
  const refused = kernels.flatMap(({ tried }) => tried.filter(({ refusal }) => refusal));
  expect(refused).toEqual([]);
  expect(kernels.flatMap(({ tried }) => tried).length).toBeGreaterThan(3);
  expectClose(await results(session), before);
  await session.dispose();
});
