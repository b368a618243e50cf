import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  const without = await testCommand(folder, ['check', at('large.ir')]);
  expect(without.status).toBe(2);
  expect(without.err).toContain("required option '--verify' not specified");
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
