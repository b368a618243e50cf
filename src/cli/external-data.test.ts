import { open, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { TensorValue } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { type OnnxExternalSpec, writeOnnxModel } from '../testing/onnx-writer.ts';
import { readProgram } from './files/read-program.ts';
import { runCommand } from './commands/run-command.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-external-'));
});

afterAll(() => rm(folder, { recursive: true }));

const external = (location: string, offset: number, length?: number): OnnxExternalSpec => ({
  dtype: 'float32',
  shape: [2],
  place: {
    location,
    offset: String(offset),
    ...(length === undefined ? {} : { length: String(length) }),
  },
});

async function model(name: string, a: OnnxExternalSpec, b: OnnxExternalSpec): Promise<string> {
  const path = join(folder, name);
  const bytes = writeOnnxModel({
    inputs: [{ name: 'x', shape: [2] }],
    externalInitializers: { a, b },
    nodes: [
      { op: 'Mul', inputs: ['x', 'a'], outputs: ['m'] },
      { op: 'Add', inputs: ['m', 'b'], outputs: ['y'] },
    ],
    outputs: ['y'],
  });
  await writeFile(path, bytes);
  return path;
}

test('tensors beyond 2 and 4 GiB of a file beside the model', async () => {
  const places = [2 ** 31 + 8, 2 ** 32 + 4096];
  const file = await open(join(folder, 'weights.bin'), 'w');
  // The file has holes: it takes no space, and is never read whole.
  await file.truncate(5 * 2 ** 30);
  await file.write(new Uint8Array(Float32Array.of(2, 3).buffer), 0, 8, places[0]);
  await file.write(new Uint8Array(Float32Array.of(10, 20).buffer), 0, 8, places[1]);
  await file.close();
  const path = await model(
    'large.onnx',
    external('weights.bin', places[0] ?? 0, 8),
    external('./weights.bin', places[1] ?? 0),
  );
  const device = createHostDevice();
  const vm = await VirtualMachine.create(await readProgram(path, {}), { devices: [device] });
  const result = await vm.get('main')(vm.tensor(HostTensor.from('float32', [2], [1, 100])));
  if (!(result instanceof TensorValue)) throw new Error('no tensor');
  const [y] = await vm.read([result]);
  expect(Array.from(y?.data ?? [], Number)).toEqual([12, 320]);
});

test.each([
  ['missing.bin', 0, undefined, 'missing.bin: got no such file, expected a file that can be read.'],
  ['short.bin', 4, undefined, 'initializer "a": got 4 bytes at 4 of short.bin, expected 8 bytes.'],
  ['short.bin', 0, 4, 'initializer "a": got 4 bytes of short.bin, expected 8 bytes for its dtype'],
  ['../other/short.bin', 0, 8, 'got tensor data in "../other/short.bin", expected a file in the'],
  ['/etc/hosts', 0, 8, 'got tensor data in "/etc/hosts", expected a file in the folder of'],
  ['', 0, 8, 'got tensor data in "", expected a file in the folder of the model, without "..".'],
])('%s at %i with length %s is refused', async (location, offset, length, message) => {
  await writeFile(join(folder, 'short.bin'), new Uint8Array(8));
  const path = await model(
    'bad.onnx',
    external(location, offset, length),
    external('short.bin', 0),
  );
  await expect(readProgram(path, {})).rejects.toThrow(message);
});

test('a model with tensors in another file runs without being compiled first', async () => {
  await writeFile(join(folder, 'pair.bin'), new Uint8Array(Float32Array.of(2, 3, 10, 20).buffer));
  const path = await model('run.onnx', external('pair.bin', 0, 8), external('pair.bin', 8, 8));
  const x = join(folder, 'x.json');
  await writeFile(x, '[1, 100]');
  let [out, err] = ['', ''];
  const status = await runCommand(
    path,
    { input: { x }, device: 'host', rtol: 0, atol: 0 },
    {
      out: (text) => (out += text),
      err: (text) => (err += text),
      isInteractive: false,
    },
  );
  expect(err).toBe('');
  expect(status).toBe(0);
  expect(out).toContain('[12, 320]');
});

test('an offset that is no number is refused', async () => {
  const place = { location: 'short.bin', offset: '-1' };
  const path = await model('bad.onnx', { dtype: 'float32', shape: [2], place }, external('x', 0));
  await expect(readProgram(path, {})).rejects.toThrow('got "-1", expected a number of bytes');
});
