import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { testCommand } from './testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-json-'));
  await writeFile(
    at('model.onnx'),
    writeOnnxModel({
      nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'w'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: [1, 2] }],
      outputs: ['y'],
      initializers: { w: HostTensor.from('float32', [2, 3], [1, 2, 3, 4, 5, 6]) },
    }),
  );
  await writeFile(at('x.json'), '[[1, 10]]');
  await writeFile(at('seven.json'), '7');
  await writeFile(
    at('two.ir'),
    `def @main(%x: Tensor[(2,), float32], %n: int) { (%x, %n) }
def @twice(%x: Tensor[(2,), float32]) { add(%x, %x) }`,
  );
  await writeFile(at('pair.json'), '[1, 2]');
});

afterAll(() => rm(folder, { recursive: true }));

async function json(...args: string[]): Promise<unknown> {
  return JSON.parse((await testCommand(folder, [...args, '--json'])).out);
}

test('every command has a shape', async () => {
  const model = at('model.onnx');
  expect(await json('compile', model, '-o', at('m.weft'))).toEqual({
    command: 'compile',
    output: '/m.weft',
    byteLength: expect.any(Number),
    functions: 1,
    kernels: 1,
    weightBytes: 24,
    placements: [],
    references: [],
    dispatch: [],
    warnings: [],
  });
  const ran = ['run', at('m.weft'), '--device', 'host', '-i', `x=${at('x.json')}`];
  expect(await json(...ran, '--profile')).toMatchObject({
    command: 'run',
    device: 'host',
    outputs: [{ name: 'y', dtype: 'float32', shape: [1, 3], elements: [41, 52, 63] }],
    comparisons: [],
    profile: { kernels: [{ primitive: 'matmul' }] },
  });
  expect(await json('inspect', at('m.weft'))).toMatchObject({
    command: 'inspect',
    kernels: 1,
    weightBytes: 24,
    operations: 12,
    costs: [{ kernel: 'matmul', calls: 1, sources: ['node "product"'] }],
  });
  const { out } = await testCommand(folder, ['inspect', at('m.weft')]);
  expect(out).toContain('1 function(s), 1 kernel(s), 24 bytes of weights');
  expect(out).toMatch(/100% +12 operations +1x {2}matmul {2}node "product"/);
  expect(out).toMatch(/call matmul\(/);
  expect(out).not.toContain('vm.builtin.kill');
  expect((await testCommand(folder, ['inspect', at('m.weft'), '--all'])).out).toContain(
    'vm.builtin.kill',
  );
  expect(await json('opt', model, '--pass', 'simplify')).toMatchObject({
    command: 'opt',
    passes: ['simplify'],
    program: expect.stringContaining('matmul'),
    status: 0,
  });
  const beside = ['--device', 'host', '-i', `x=${at('x.json')}`];
  expect(await json('check', model, '--verify', ...beside)).toMatchObject({
    command: 'check',
    calls: 1,
  });
  expect(await json('compare', model, ...beside)).toMatchObject({
    command: 'compare',
    against: 'host',
    largestError: 0,
  });
  const trained = ['grad', model, '-o', at('t.weft'), '--wrt', 'w', '--loss', 'cross-entropy'];
  expect(await json(...trained)).toMatchObject({ command: 'grad', output: '/t.weft' });
});

test('an error is JSON too, with its code and where to read about it', async () => {
  expect(await json('run', at('missing.weft'))).toMatchObject({
    command: 'run',
    error: {
      name: 'UsageError',
      code: 'WEFT_USAGE',
      help: 'weft-vm/docs/troubleshooting.md#weft_usage',
      message: '/missing.weft: got no such file, expected a file that can be read.',
    },
  });
});

test('files of inputs and outputs are looked at before anything is compiled', async () => {
  await writeFile(at('broken.onnx'), 'no model');
  const run = (...args: string[]) => testCommand(folder, ['run', at('broken.onnx'), ...args]);
  // The model, which is no model, is not reached.
  expect((await run('-i', `x=${at('none.npy')}`)).err).toContain('/none.npy: got no such file');
  expect((await run('--expect', `y=${at('none.npy')}`)).err).toContain('/none.npy: got no such');
  expect((await run('-o', `y=${at('none/y.npy')}`)).err).toContain(
    '/none/y.npy: got no such folder',
  );
  expect((await run('-o', `y=${at('y.txt')}`)).err).toContain('got a file named *.txt');
});

test('another function, and a number from a file', async () => {
  const run = (...args: string[]) =>
    testCommand(folder, ['run', at('two.ir'), '--device', 'host', ...args]);
  const x = ['-i', `x=${at('pair.json')}`];
  expect((await run(...x, '-i', `n=${at('seven.json')}`)).out).toBe(
    'result0: float32 [2]\n  [1, 2]\nresult1: 7\n',
  );
  expect((await run(...x, '-i', 'n=8')).out).toContain('result1: 8\n');
  expect((await run('--function', 'twice', ...x)).out).toContain('[2, 4]');
  expect((await run(...x, '-i', `n=${at('pair.json')}`)).err).toContain(
    'expected a number, or a .json file with one',
  );
});

test('wrong options are objects too', async () => {
  const found = await testCommand(folder, ['inspect', at('model.onnx'), '--frob', '--json']);
  expect(found.status).toBe(2);
  expect(found.err).toContain("error: unknown option '--frob'");
  expect(JSON.parse(found.out)).toEqual({
    command: 'inspect',
    error: {
      name: 'UsageError',
      code: 'WEFT_USAGE',
      help: 'weft-vm/docs/troubleshooting.md#weft_usage',
      message: "unknown option '--frob'",
      details: {},
    },
  });
  expect(await json('compile', at('model.onnx'))).toMatchObject({
    error: { message: "required option '-o, --output <file.weft>' not specified" },
  });
});
