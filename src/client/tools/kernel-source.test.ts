import { expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { openConnection } from '../../rpc/testing/open-connection.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { Session, Tensor } from '../index.ts';

const PROGRAM = `def @main(%a: Tensor[(n, 8), float32], %b: Tensor[(8, 8), float32])
    -> Tensor[(n, 8), float32] {
  tanh(matmul(%a, %b))
}`;

const executable = compile(parseModule(PROGRAM)).toBytes();

async function kernelOf(session: Session): Promise<string> {
  const [, name = ''] = /primitive (\w+)/.exec(await session.listing()) ?? [];
  return name;
}

async function run(session: Session, n: number): Promise<void> {
  const filled = (rows: number) => new Tensor('float32', new Float32Array(rows * 8), [rows, 8]);
  await session.run({ a: filled(n), b: filled(8) });
}

test('on WebGPU the code of a kernel is its shaders, for the sizes of the latest call', async () => {
  const session = await Session.load(executable, { device: 'webgpu', gpu: await sharedNodeGpu() });
  const kernel = await kernelOf(session);
  const sample = await session.kernelSource(kernel);
  expect(sample).toMatchObject({ kernel, language: 'wgsl', sizes: 'sample' });
  expect(sample.shapes).toEqual([
    [32, 8],
    [8, 8],
    [32, 8],
  ]);
  await run(session, 3);
  const { sizes, shapes, parts } = await session.kernelSource(kernel);
  expect([sizes, shapes[0]]).toEqual(['latest', [3, 8]]);
  const launched = (
    await session.profile({
      a: new Tensor('float32', new Float32Array(24), [3, 8]),
      b: new Tensor('float32', new Float32Array(64), [8, 8]),
    })
  ).kernels;
  expect(parts.map(({ label, workgroups }) => ({ label, workgroups }))).toEqual(
    launched.map(({ label, workgroups }) => ({ label, workgroups })),
  );
  expect(parts[0]?.code).toMatch(/@compute[^]*fn main\(/);
  expect(parts[0]?.code).toContain('tanh');
  await session.dispose();
});

test('on WebAssembly it is the loop nests of its steps', async () => {
  const session = await Session.load(executable, { device: 'wasm', worker: false });
  await run(session, 3);
  const { language, sizes, parts } = await session.kernelSource(await kernelOf(session));
  expect([language, sizes]).toEqual(['wasm', 'latest']);
  expect(parts.map(({ label }) => label)).toEqual(['matmul', 'tanh']);
  expect(parts[0]?.code).toMatch(/^\/\/ value0: float32 \(3, 8\)\n/);
  expect(parts[0]?.code).toMatch(/\nfunction step\(value0: i32, value1: i32, value2: i32, /);
  expect(parts[0]?.code).toMatch(/ {2}for \w+ = 0 to 8 \{\n[^]*madd\(/);
  await session.dispose();
});

test('on the host, and on a lent one, it is the references that run', async () => {
  const { remote, served } = await openConnection({ devices: [createHostDevice()] });
  for (const options of [{ device: 'host', worker: false } as const, { remote }]) {
    const session = await Session.load(executable, options);
    await run(session, 3);
    const { language, parts } = await session.kernelSource(await kernelOf(session));
    expect(language).toBe('host');
    expect(parts).toEqual([
      {
        label: 'matmul',
        code:
          '// %0: float32 (3, 8)\n// %1: float32 (8, 8)\n// %2: float32 (3, 8)\n' +
          '%2 = reference matmul(%0, %1)\n',
      },
      {
        label: 'tanh',
        code:
          '// %2: float32 (3, 8)\n// %3: float32 (3, 8)\n' +
          'for each block of 24 elements {\n  %3 = reference tanh(%2)\n}\n',
      },
    ]);
    await session.dispose();
  }
  served.close();
});

test('a name that is no kernel is refused', async () => {
  const session = await Session.load(executable, { device: 'host', worker: false });
  await expect(session.kernelSource('none')).rejects.toMatchObject({
    name: 'UsageError',
    message: `kernelSource: got the kernel "none", expected one of ${await kernelOf(session)}.`,
  });
  await session.dispose();
});
