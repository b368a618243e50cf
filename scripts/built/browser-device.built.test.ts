import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findChromium } from '../find-chromium.mjs';

const run = promisify(execFile);
const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-browser-test-'));
  await writeFile(join(folder, 'm.ir'), 'def @main(%x: Tensor[(n,), float32]) { add(%x, %x) }');
  await writeFile(join(folder, 'x.json'), '[1, 2.5]');
});

afterAll(() => rm(folder, { recursive: true }));

const weft = (...args: string[]) =>
  run(process.execPath, [command, ...args], {
    env: {
      ...process.env,
      WEFT_BROWSER: findChromium(),
      WEFT_BROWSER_ARGS: '--use-webgpu-adapter=swiftshader --no-sandbox',
    },
  });

test('a program runs on WebGPU of a browser that the command starts', async () => {
  const input = ['--input', `x=${join(folder, 'x.json')}`];
  const { stdout, stderr } = await weft(
    'run',
    join(folder, 'm.ir'),
    '--device',
    'browser',
    ...input,
  );
  expect(stderr).toMatch(/^webgpu in (Headless)?Chrome\/[\d.]+\n$/);
  expect(stdout).toBe('result: float32 [2]\n  [2, 5]\n');
});

test('that browser is compared with the host of the command', async () => {
  const file = join(folder, 'm.ir');
  const { stdout } = await weft('compare', file, '--device', 'browser', '--json', '--dim', 'n=4');
  expect(JSON.parse(stdout)).toMatchObject({ against: 'host', calls: 1, largestError: 0 });
});

test('and with the same in float32', async () => {
  const file = join(folder, 'm.ir');
  const where = ['--verify', '--device', 'browser'];
  const { stdout } = await weft('check', file, ...where, '--json', '--dim', 'n=4');
  expect(JSON.parse(stdout)).toMatchObject({ against: 'float32', calls: 1, largestError: 0 });
});
