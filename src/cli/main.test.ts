import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { writeOnnxModel, writeOnnxTensor } from '../testing/onnx-writer.ts';
import { countingLoop } from '../worker/testing/test-programs.ts';
import { readNpy, writeNpy } from './files/npy.ts';
import { type CommandResult, testCommand } from './testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-cli-'));
  const weights = HostTensor.from('float32', [2, 3], [1, 2, 3, 4, 5, 6]);
  await writeFile(
    at('model.onnx'),
    writeOnnxModel({
      nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'w'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: ['batch', 2] }],
      outputs: ['y'],
      initializers: { w: weights },
    }),
  );
  const x = HostTensor.from('float32', [1, 2], [1, 10]);
  await writeFile(at('x.pb'), writeOnnxTensor(x));
  await writeFile(at('x.npy'), writeNpy(x));
  await writeFile(at('x.json'), '[[1, 10]]');
  await writeFile(at('flat.json'), '[1, 10]');
  await writeFile(at('words.json'), '["one"]');
  await writeFile(at('wrong.json'), '[1, 2, 3]');
  await writeFile(at('y.pb'), writeOnnxTensor(HostTensor.from('float32', [1, 3], [41, 52, 63])));
  await writeFile(at('z.pb'), writeOnnxTensor(HostTensor.from('float32', [1, 3], [41, 52, 64])));
  await writeFile(at('loop.weft'), countingLoop().toBytes());
  await writeFile(at('junk.weft'), 'junk');
});

afterAll(() => rm(folder, { recursive: true }));

const weft = (...args: string[]): Promise<CommandResult> => testCommand(folder, args);

const DIM = ['--dim', 'batch=1'] as const;

describe('weft compile', () => {
  test('writes an executable that the other commands take', async () => {
    const compiled = await weft('compile', at('model.onnx'), '-o', at('sub/model.weft'), ...DIM);
    expect(compiled.err).toBe('');
    expect(compiled.out).toMatch(
      /^\/sub\/model.weft: [\d.]+ \w+, 1 function\(s\), 1 kernel\(s\), 24 bytes of weights\n$/,
    );
    const ran = await weft(
      'run',
      at('sub/model.weft'),
      '-i',
      `x=${at('x.pb')}`,
      '--device',
      'host',
    );
    expect(ran).toMatchInlineSnapshot(`
      {
        "err": "",
        "out": "y: float32 [1, 3]
        [[41, 52, 63]]
        largest: [2] 63, [1] 52, [0] 41
      ",
        "status": 0,
      }
    `);
    const inspected = await weft('inspect', at('sub/model.weft'));
    expect(inspected.out).toContain('func main(x: Tensor[(1, 2), float32])');
    expect(inspected.out).not.toContain('base64');
  });

  test('prints the program after each pass', async () => {
    const { out } = await weft('compile', at('model.onnx'), '-o', at('m.weft'), ...DIM, '--dump');
    expect(out).toMatch(/^\/\/ after source\n/);
    expect(out).toContain('matmul');
  });

  test('refuses what is no model', async () => {
    await weft('compile', at('model.onnx'), '-o', at('m.weft'), ...DIM);
    expect(await weft('compile', at('m.weft'), '-o', at('n.weft'))).toMatchInlineSnapshot(`
      {
        "err": "weft: /m.weft: got an executable, expected an .onnx model or an .ir program.
      ",
        "out": "",
        "status": 2,
      }
    `);
    const junk = await weft('compile', at('junk.weft'), '-o', at('n.weft'));
    expect(junk.status).toBe(1);
    expect(junk.err).toContain(
      'junk.weft: got a text that begins with "junk", expected a .weft executable or an .onnx model. Check the address.',
    );
  });
});

describe('weft inspect', () => {
  test('gives builder calls and numbers', async () => {
    const ts = await weft('inspect', at('loop.weft'), '--ts');
    expect(ts.out).toContain('new ExecBuilder(');
    const stats = await weft('inspect', at('loop.weft'), '--stats');
    expect(stats.status).toBe(0);
    expect(stats.out).toMatch(/functions?/i);
  });

  test('gives the code of kernels on a device', async () => {
    const ask = (...args: string[]) =>
      weft('inspect', at('model.onnx'), ...DIM, '--kernel-source', ...args);
    const { status, out } = await ask('--device', 'wasm');
    expect(status).toBe(0);
    expect(out).toMatch(
      /^\/\/ kernel (\w+) in wasm on .*, for \(1, 2\), \(2, 3\), \(1, 3\): the sizes of all calls\n\/\/ matmul/,
    );
    expect(out).toContain('function step(');
    const [, name = ''] = /kernel (\w+)/.exec(out) ?? [];
    expect((await ask(name, '--device', 'wasm')).out).toBe(out);
    const shader = JSON.parse((await ask(name, '--device', 'webgpu', '--json')).out);
    expect(shader).toMatchObject({
      command: 'inspect',
      sources: [{ kernel: name, language: 'wgsl', sizes: 'fixed' }],
    });
    expect(shader.sources[0].parts[0].code).toContain('@compute');
    const unknown = await ask('frobnicate', '--device', 'host');
    expect(unknown.status).toBe(2);
    expect(unknown.err).toContain(`got the kernel "frobnicate", expected one of ${name}`);
    expect((await ask('--ts')).err).toContain("cannot be used with option '--ts'");
  });
});

describe('weft run', () => {
  const run = (...args: string[]) =>
    weft('run', at('model.onnx'), ...DIM, '--device', 'host', ...args);

  test.each(['x.pb', 'x.npy', 'x.json', 'flat.json'])('takes %s', async (name) => {
    const { status, out, err } = await run('--input', `x=${at(name)}`);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toBe('y: float32 [1, 3]\n  [[41, 52, 63]]\n  largest: [2] 63, [1] 52, [0] 41\n');
  });

  test('writes outputs that can be read back', async () => {
    const input = ['--input', `x=${at('x.npy')}`];
    await run(...input, '--output', `y=${at('y.npy')}`);
    const { data } = readNpy(await readFile(at('y.npy')), 'y.npy');
    expect(data).toEqual(Float32Array.of(41, 52, 63));
    await run(...input, '--output', `y=${at('y.json')}`);
    expect(await readFile(at('y.json'), 'utf8')).toBe('[[41,52,63]]\n');
  });

  test('compares with what is expected', async () => {
    const input = ['--input', `x=${at('x.npy')}`];
    const equal = await run(...input, '--expect', `y=${at('y.pb')}`);
    expect(equal.out).toContain('y: as expected (rtol 0.001, atol 0.00001)\n');
    expect(equal.status).toBe(0);
    const other = await run(...input, '--expect', `y=${at('z.pb')}`);
    expect(other.out).toContain('1 of 3 elements differ; the worst is at 2: got 63, expected 64');
    expect(other.status).toBe(1);
  });

  test('takes a number for an int', async () => {
    const { out } = await weft('run', at('loop.weft'), '-i', 'steps=1000', '--device', 'host');
    expect(out).toBe('count: 1000\n');
  });

  test('profiles', async () => {
    const { out } = await run('--input', `x=${at('x.npy')}`, '--profile');
    expect(out).toMatch(/ms {2}matmul .* matmul\n.* ms, \d+ instructions, 1 launches on host\n/);
  });

  test('runs on WebGPU', async () => {
    const input = `x=${at('x.pb')}`;
    const where = ['--device', 'webgpu'];
    const { out, err } = await weft('run', at('model.onnx'), ...DIM, ...where, '-i', input);
    expect(err).toBe('');
    expect(out).toContain('[[41, 52, 63]]');
  });

  test('errors are one paragraph', async () => {
    const errors = [
      await run('--input', `X=${at('x.pb')}`),
      await run('--input', `x=${at('none.pb')}`),
      await run('--input', `x=${at('words.json')}`),
      await run('--input', `x=${at('wrong.json')}`),
      await run('--input', `x=${at('model.onnx')}`),
      await run('--input', `x=${at('x.npy')}`, '--output', `z=${at('z.npy')}`),
      await weft('run', at('junk.weft'), '--device', 'host'),
      await weft('run', at('none.weft'), '--device', 'host'),
    ];
    const lines = errors.map(({ status, err }) => `${status} ${err}`).join('');
    expect(lines).toMatchInlineSnapshot(`
      "2 weft: inputs of main: unknown "X", missing "x"; expected "x". Did you mean "x" instead of "X"?
      2 weft: /none.pb: got no such file, expected a file that can be read.
      1 weft: /words.json: got JSON of another form, expected a number or nested arrays of numbers or booleans.
      1 weft: inputs of main: "x": got float32 (3,), expected float32 (1, 2).
      2 weft: /model.onnx: got a file named *.onnx, expected a tensor in a .pb, .npy or .json file.
      2 weft: output "z": got no such output, expected one of y.
      1 weft: /junk.weft: got a text that begins with "junk", expected a .weft executable or an .onnx model. Check the address.
      2 weft: /none.weft: got no such file, expected a file that can be read.
      "
    `);
  });
});

describe('usage', () => {
  test('--help teaches and --version tells', async () => {
    const help = await weft('--help');
    expect(help.status).toBe(0);
    expect(help.out).toContain('weft run model.weft --input x=x.npy');
    expect((await weft('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await weft('run', '--help')).out).toContain('--expect <NAME=FILE>');
  });

  test('what is wrong has status 2', async () => {
    const errors = [
      await weft('frobnicate'),
      await weft('compile', 'x.onnx'),
      await weft('run', 'x.weft', '--device', 'abacus'),
      await weft('run', 'x.weft', '--input', 'x'),
      await weft('run', 'x.weft', '--dim', 'n=many'),
      await weft('run', 'x.weft', '--rtol', '-1'),
    ];
    const lines = errors.map(({ status, err }) => `${status} ${err}`).join('');
    expect(lines).toMatchInlineSnapshot(`
      "2 error: unknown command 'frobnicate'
      (add --help for usage)
      2 error: required option '-o, --output <file.weft>' not specified
      (add --help for usage)
      2 error: option '--device <device>' argument 'abacus' is invalid. Allowed choices are auto, host, wasm, webgpu, browser.
      (add --help for usage)
      2 error: option '-i, --input <NAME=FILE>' argument 'x' is invalid. Write it as NAME=VALUE.
      (add --help for usage)
      2 error: option '--dim <NAME=N>' argument 'n=many' is invalid. Write it as NAME=N, N an integer.
      (add --help for usage)
      2 error: option '--rtol <number>' argument '-1' is invalid. It has to be a number from 0 up.
      (add --help for usage)
      "
    `);
  });
});
