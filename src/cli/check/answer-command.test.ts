import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { testCommand } from '../testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const check = (...args: string[]) => testCommand(folder, ['check', ...args]);

const WEIGHTS = HostTensor.from(
  'float32',
  [4, 64],
  Array.from({ length: 256 }, (_, i) => (i === 7 ? 70_000 : i / 256)),
);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-answer-'));
  const product = (rows: number | string) =>
    writeOnnxModel({
      nodes: [{ name: 'project', op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: [rows, 4] }],
      outputs: ['y'],
      initializers: { w: WEIGHTS },
    });
  await writeFile(at('fixed.onnx'), product(8));
  await writeFile(at('free.onnx'), product('n'));
  const unknown = { name: 'odd', op: 'NoSuchOperator', inputs: ['x'], outputs: ['y'] };
  const inputs = [{ name: 'x', shape: [2] }];
  await writeFile(at('unknown.onnx'), writeOnnxModel({ nodes: [unknown], inputs, outputs: ['y'] }));
  await writeFile(
    at('wide.ir'),
    `def @main(%x: Tensor[(4,), float64]) -> Tensor[(4,), float64] { sqrt(%x) }`,
  );
  await writeFile(at('half.ir'), `def @main(%x: Tensor[(4,), float16]) { exp(%x) }`);
});

afterAll(() => rm(folder, { recursive: true }));

test('a program of known sizes: download, memory, kernels, and what float16 does not hold', async () => {
  const { out, status } = await check(at('fixed.onnx'), '--budget', '1MB');
  expect(status).toBe(0);
  expect(out).toMatch(/^\/fixed\.onnx: runs on webgpu\nmain\(x: Tensor\[\(8, 4\), float32\]\) -> /);
  expect(out).toMatch(/\n {2}download {2}\d\.\d KiB, \d+ bytes gzipped\n|KiB gzipped\n/);
  expect(out).toContain(
    '  memory    3.2 KiB: weights 1.0 KiB, other layouts of them up to 64 bytes, tensors 2.1 KiB at a time; the budget is 976.6 KiB: fits\n',
  );
  expect(out).toContain('  kernels   1\n');
  expect(out).toContain(
    '  float16   not used; it does not hold constants of\n    node "project": [4, 64], 1 above 65,504, up to 7.00e+4\n',
  );
  expect(out).not.toContain('sizes');
});

test('over the budget, the exit status says so', async () => {
  const { out, status } = await check(at('fixed.onnx'), '--budget', '2kB', '--device', 'wasm');
  expect(status).toBe(1);
  expect(out).toMatch(/^\/fixed\.onnx: does not fit on wasm\n/);
  expect(out).toContain('other layouts of them up to 2.0 KiB');
  expect(out).toContain('the budget is 2.0 KiB: too much\n');
  const { out: json, status: same } = await check(at('fixed.onnx'), '--budget', '2kB', '--json');
  expect(same).toBe(1);
  expect(JSON.parse(json)).toMatchObject({
    command: 'check',
    runs: true,
    budget: 2000,
    device: 'webgpu',
    kernels: 1,
    memory: { weights: 1024, tensors: 2176, fits: false, isAtLeast: false },
    float16: { risks: [{ infinite: 1, largest: 70_000, sources: ['node "project"'] }] },
  });
});

test('sizes that a run tells make the memory a lower bound, until they are given', async () => {
  const { out } = await check(at('free.onnx'));
  expect(out).toContain('  memory    at least 1.1 KiB: ');
  expect(out).toContain(
    '  sizes     n: told by each run; --dim NAME=N fixes one, and tells its memory\n',
  );
  expect((await check(at('free.onnx'), '--dim', 'n=8')).out).toContain('  memory    3.2 KiB: ');
});

test('calls beside WebGPU are named with a reason', async () => {
  const { out, status } = await check(at('wide.ir'));
  expect(status).toBe(0);
  expect(out).toMatch(
    /kernels {3}1; 1 call\(s\) beside WebGPU, on the processor:\n {4}.*: sqrt: .*float64/,
  );
  expect((await check(at('wide.ir'), '--device', 'host')).out).toContain('  kernels   1\n');
});

test('a program in float16', async () => {
  expect((await check(at('half.ir'))).out).toContain(
    '  float16   in 1 kernel(s): weft check --verify compares the numbers with float32\n',
  );
});

test('nothing is run in a browser without --verify', async () => {
  const { err, status } = await check(at('fixed.onnx'), '--device', 'browser');
  expect(status).toBe(2);
  expect(err).toContain(
    'check: got --device browser without --verify, which runs nothing, expected --device auto, host, wasm or webgpu. Give --verify to run it in a browser, or --device webgpu.',
  );
});

test('a model that does not run, and a file that is none', async () => {
  const { out, status } = await check(at('unknown.onnx'));
  expect(status).toBe(1);
  expect(out).toMatch(/^\/unknown\.onnx: does not run\n.*NoSuchOperator/);
  const { out: json } = await check(at('unknown.onnx'), '--json');
  expect(JSON.parse(json)).toMatchObject({ runs: false, reason: { code: expect.any(String) } });
  await writeFile(at('none.onnx'), 'nothing');
  expect((await check(at('none.onnx'))).status).toBe(1);
  expect((await check(at('fixed.onnx'), '--budget', 'much')).status).toBe(2);
});
