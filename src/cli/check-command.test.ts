import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { writeNpy } from './files/npy.ts';
import { testCommand } from './testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-check-'));
  await writeFile(
    at('large.ir'),
    `def @main(%x: Tensor[(2, n), float16]) {
  let %y = mul(%x, 40000f16);
  add(%y, softmax(%x, axis=1))
}`,
  );
  await writeFile(at('small.json'), '[[0.5, 0.25], [1, 0]]');
  await writeFile(at('large.json'), '[[0.5, 0.25], [3, 0]]');
});

afterAll(() => rm(folder, { recursive: true }));

const check = (...args: string[]) =>
  testCommand(folder, ['check', at('large.ir'), '--verify', '--device', 'host', ...args]);

test('a program that agrees with float32', async () => {
  const { out, status } = await check('-i', `x=${at('small.json')}`);
  expect(out).toMatch(
    /^\d+ calls of kernels on .* agree with float32; the largest error is 0\.\d+%\n$/,
  );
  expect(status).toBe(0);
});

test('the line whose value departs', async () => {
  const { out, status } = await check('-i', `x=${at('large.json')}`);
  expect(out).toMatch(
    /^.*large\.ir:2:12.*: float16 \[2, 2\] departs from float32 by more than all of its range\n/,
  );
  expect(out).toContain('element 2 is Infinity, in float32 120000.953125; 1 infinite');
  expect(status).toBe(1);
  const { out: json } = await check('-i', `x=${at('large.json')}`, '--json');
  expect(JSON.parse(json)).toMatchObject({ departure: { element: 2, expected: 120_000.953125 } });
});

test('random inputs are the same for a seed, and sizes are given', async () => {
  const [first, again] = [await check('--dim', 'n=3'), await check('--dim', 'n=3')];
  expect(first).toEqual(again);
  expect(first.status).toBe(0);
});

test('wrong usage', async () => {
  const without = await testCommand(folder, ['check']);
  expect(without.status).toBe(2);
  expect(without.err).toContain("missing required argument 'file'");
  expect((await check('--tolerance', '-1')).status).toBe(2);
});

test('another device is compared with', async () => {
  const compare = (...args: string[]) =>
    testCommand(folder, ['compare', at('large.ir'), '--device', 'wasm', ...args]);
  for (const against of ['host', 'wasm']) {
    const { out, status } = await compare('--against', against, '-i', `x=${at('small.json')}`);
    expect(out).toMatch(
      new RegExp(`^\\d+ calls of kernels on .* agree with ${against}; the largest error is 0`),
    );
    expect(status).toBe(0);
  }
  expect((await compare('--against', 'webgpu')).status).toBe(2);
});

const TEXT = `def @main(%x: Tensor[(4,), float32]) {
  let %shifted = add(%x, 1f);
  let %turned = neg(%shifted);
  softmax(%turned, axis=0)
}`;
const float32 = (elements: readonly number[]) => HostTensor.from('float32', [4], elements);
const SHIFTED = float32([2, 3, 4, 5]);
const TURNED = float32([-2, -3, -4, -5]);

/** A ZIP archive of files, each deflated or stored. */
function zip(files: Readonly<Record<string, Uint8Array>>, method: 0 | 8): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const stored = method === 0 ? Buffer.from(content) : deflateRawSync(content);
    const entry = (signature: number, head: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length);
      bytes.writeUInt32LE(signature, 0);
      bytes.writeUInt16LE(method, head);
      bytes.writeUInt32LE(stored.length, head + 10);
      bytes.writeUInt32LE(content.length, head + 14);
      bytes.writeUInt16LE(name.length, head + 18);
      return bytes;
    };
    const central = entry(0x02_01_4b_50, 10, 46);
    central.writeUInt32LE(at, 42);
    directory.push(central, Buffer.from(name));
    const local = Buffer.concat([entry(0x04_03_4b_50, 8, 30), Buffer.from(name), stored]);
    parts.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

test('values from a file are compared by the names of the program', async () => {
  await writeFile(at('named.ir'), TEXT);
  await writeFile(at('x.json'), '[1, 2, 3, 4]');
  const compare = (second: string) =>
    testCommand(folder, [
      'compare',
      at('named.ir'),
      at(second),
      '--device',
      'host',
      '-i',
      `x=${at('x.json')}`,
    ]);
  const right = { 'shifted.npy': writeNpy(SHIFTED), 'turned.npy': writeNpy(TURNED) };
  for (const method of [0, 8] as const) {
    await writeFile(at('right.npz'), zip({ ...right, 'z.npy': writeNpy(TURNED) }, method));
    expect(await compare('right.npz')).toEqual({
      status: 0,
      out: '2 values on host agree with /right.npz; the largest error is 0.0%\n  not compared, since this program has no such value: z\n',
      err: '',
    });
  }
  await mkdir(at('values'));
  await writeFile(at('values/shifted.npy'), writeNpy(SHIFTED));
  await writeFile(at('values/turned.json'), '[-2, -3, -4, 5]');
  const wrong = await compare('values');
  expect(wrong.out).toMatch(
    /^value "turned" of .*named\.ir:3:17.*: float32 \[4\] departs from \/values/,
  );
  expect(wrong.out).toContain('element 3 is -5, expected 5');
  expect(wrong.status).toBe(1);
  expect((await compare('named.ir')).out).toMatch(/^\d+ values on host agree with \/named\.ir/);
  await writeFile(at('cut.npz'), zip(right, 0).subarray(0, 300));
  expect(await compare('cut.npz')).toMatchObject({
    status: 1,
    err: 'weft: /cut.npz: got no directory of an archive, expected a .npz file as numpy.savez writes it.\n',
  });
});
