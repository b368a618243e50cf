import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testCommand } from '../testing/test-command.ts';
import { spreadOf } from './bench-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-bench-'));
  await writeFile(at('sum.ir'), 'def @main(%x: Tensor[(n, 4), float32], %k: int) { add(%x, %x) }');
});

afterAll(() => rm(folder, { recursive: true }));

const bench = (...args: string[]) => testCommand(folder, ['bench', at('sum.ir'), ...args]);

test('devices by turns, each with its times', async () => {
  const { out, err, status } = await bench('--device', 'host,wasm,host', '--runs', '5', '--json');
  expect(err).toBe('');
  expect(status).toBe(0);
  const { command, devices } = JSON.parse(out) as {
    command: string;
    devices: Record<string, number | string>[];
  };
  expect(command).toBe('bench');
  expect(devices.map(({ device, runs }) => [device, runs])).toEqual([
    ['host', 5],
    ['wasm', 5],
  ]);
  for (const times of devices) {
    const { fastestMs, lowerMs, medianMs, upperMs, firstMs, loadMs } = times as Record<
      string,
      number
    >;
    const sorted = [0, fastestMs, lowerMs, medianMs, upperMs].map(Number);
    expect(sorted).toEqual(sorted.toSorted((a, b) => a - b));
    expect(firstMs).toBeGreaterThan(0);
    expect(loadMs).toBeGreaterThan(0);
  }
});

test('a table, for inputs that are given', async () => {
  await writeFile(at('x.json'), '[[1, 2, 3, 4]]');
  const { out } = await bench('--device', 'host', '--runs', '3', '-i', `x=${at('x.json')}`);
  const [head, row] = out.trimEnd().split('\n');
  expect(head).toMatch(/^device +median ms +half within +fastest ms +first ms +load ms +runs$/);
  expect(row).toMatch(/^host( +\d+(\.\d+)?){6} +3$/);
});

test('wrong usage', async () => {
  expect((await bench('--device', 'gpu')).err).toContain('Write some of auto, host, wasm');
  expect((await bench('--device', 'host', '-i', 'y=1')).status).not.toBe(0);
});

test('the median and the quarters of times', () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({
    runs: 4,
    medianMs: 2.5,
    fastestMs: 1,
    lowerMs: 1.75,
    upperMs: 3.25,
  });
  expect(spreadOf([7])).toMatchObject({ medianMs: 7, lowerMs: 7, upperMs: 7 });
});
