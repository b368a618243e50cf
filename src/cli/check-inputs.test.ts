import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { writeNpy } from './files/npy.ts';
import { testCommand } from './testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-inputs-'));
  // Compiling fails, so what is said of inputs is said before it.
  const model = writeOnnxModel({
    nodes: [{ name: 'odd', op: 'NoSuchOperator', inputs: ['x', 'ids', 'w'], outputs: ['y'] }],
    inputs: [
      { name: 'x', shape: ['batch', 3] },
      { name: 'ids', dtype: 'int64', shape: ['batch'] },
    ],
    outputs: ['y'],
    initializers: { w: HostTensor.zeros('float32', [3, 4]) },
  });
  await writeFile(at('model.onnx'), model);
  await writeFile(at('x.npy'), writeNpy(HostTensor.zeros('float32', [2, 3])));
  await writeFile(at('wide.npy'), writeNpy(HostTensor.zeros('float32', [2, 4])));
  await writeFile(at('ids.json'), '[1, 2]');
  await writeFile(at('three.json'), '[1, 2, 3]');
});

afterAll(() => rm(folder, { recursive: true }));

const run = (...inputs: string[]) =>
  testCommand(folder, [
    'run',
    at('model.onnx'),
    ...inputs.flatMap((input) => {
      const [name = '', file = ''] = input.split('=');
      return ['-i', `${name}=${at(file)}`];
    }),
  ]);

test('inputs that fit let the compiler begin', async () => {
  const { err, status } = await run('x=x.npy', 'ids=ids.json');
  expect(status).toBe(1);
  expect(err).toContain('NoSuchOperator');
});

test('names, types and shapes are compared with the head of the file', async () => {
  expect((await run('x=x.npy')).err).toMatch(
    /inputs of main: missing "ids"\. Give --input ids=FILE for int64 \(.*\)\./,
  );
  expect((await run('x=x.npy', 'id=ids.json')).err).toContain(
    'Did you mean "ids" instead of "id"?',
  );
  expect((await run('x=wide.npy', 'ids=ids.json')).err).toMatch(/x.*\(2, 4\).*\(batch, 3\)/);
  expect((await run('x=ids.json', 'ids=ids.json')).err).toMatch(/inputs of main: .*x/);
  // Equal names are equal sizes.
  expect((await run('x=x.npy', 'ids=three.json')).err).toMatch(/batch/);
});

test('other inputs are random where a command draws them, and sizes that are given count', async () => {
  const check = (...args: string[]) =>
    testCommand(folder, ['check', at('model.onnx'), '--verify', ...args]);
  expect((await check('-i', `x=${at('x.npy')}`)).err).toContain('NoSuchOperator');
  expect((await check('-i', `x=${at('wide.npy')}`)).err).toMatch(/x.*\(2, 4\)/);
  const { err } = await check('--dim', 'batch=5', '-i', `x=${at('x.npy')}`);
  expect(err).toMatch(/x.*\(2, 3\).*\(5, 3\)/);
});
