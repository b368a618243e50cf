import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { readMessage } from '../../frontend/onnx/protobuf/read-message.ts';
import { writeOnnxModel, writeOnnxTensor } from '../../testing/onnx-writer.ts';
import { randomTensor } from '../../testing/random-tensor.ts';
import { writeNpy } from '../files/npy.ts';
import { testCommand } from '../testing/test-command.ts';

let folder: string;
const at = (...names: string[]): string => join(folder, ...names);

const initializers: Readonly<Record<string, HostTensor>> = {
  w: randomTensor([4, 1, 3, 3], 1),
  v: randomTensor([64, 32], 2),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-quantize-'));
  const model = writeOnnxModel({
    inputs: [
      { name: 'x', shape: ['n', 1, 4, 4] },
      { name: 'shift', shape: [1] },
    ],
    nodes: [
      {
        op: 'Conv',
        name: 'conv',
        inputs: ['x', 'w'],
        outputs: ['a'],
        attributes: { pads: [1, 1, 1, 1] },
      },
      { op: 'Flatten', inputs: ['a'], outputs: ['b'] },
      { op: 'MatMul', name: 'product', inputs: ['b', 'v'], outputs: ['c'] },
      { op: 'Add', inputs: ['c', 'shift'], outputs: ['y'] },
    ],
    initializers,
    outputs: ['y'],
  });
  await writeFile(at('m.onnx'), model);
  for (const [i, name] of ['one', 'two'].entries()) {
    await mkdir(at('samples', name), { recursive: true });
    await writeFile(at('samples', name, 'x.npy'), writeNpy(randomTensor([2, 1, 4, 4], i)));
    await writeFile(at('samples', name, 'input_1.pb'), writeOnnxTensor(randomTensor([1], i)));
    await writeFile(at('samples', name, 'output_0.pb'), writeOnnxTensor(randomTensor([1], i)));
  }
});

afterAll(() => rm(folder, { recursive: true }));

const quantize = (...args: string[]) => testCommand(folder, ['quantize', at('m.onnx'), ...args]);

describe('weft quantize', () => {
  test('writes a model in float16, and says how far its values moved', async () => {
    const { out, err, status } = await quantize('-o', at('out', 'h.onnx'), '--bits', '16');
    expect(err).toBe('');
    expect(status).toBe(0);
    expect(out).toMatch(
      /^conv \(Conv\): float16; weights moved by 0\.0\d+%, its output by 0\.0\d+% \(cosine \d\.\d+\)$/m,
    );
    expect(out).toMatch(/^y \(Add\): float16; weights moved by 0%,/m);
    expect(out).toMatch(/^ {2}output y: cosine \d\.\d+, at worst (0\.99999|1)/m);
    expect(out).toMatch(/^the cosine of each output is at least 0\.9999$/m);
    const { graph } = readMessage('ModelProto', await readFile(at('out', 'h.onnx')));
    expect(graph?.initializer.map(({ dataType }) => dataType)).toEqual([10, 10]);
  });

  test('weights alone may be float16, and what random inputs make overflow stays float', async () => {
    const alone = await quantize('-o', at('w.onnx'), '--bits', '16', '--weights-only');
    expect(alone.out).toMatch(
      /^product \(MatMul\): weights of float16; weights moved by 0\.0\d+%/m,
    );
    const large = writeOnnxModel({
      inputs: [{ name: 'x', shape: [4, 64] }],
      nodes: [
        { op: 'Mul', name: 'grows', inputs: ['x', 'k'], outputs: ['a'] },
        { op: 'MatMul', name: 'beyond', inputs: ['a', 'v'], outputs: ['b'] },
        { op: 'Tanh', name: 'tanh', inputs: ['b'], outputs: ['y'] },
      ],
      initializers: {
        k: HostTensor.splat('float32', [64], 20_000),
        v: initializers['v'] as HostTensor,
      },
      outputs: ['y'],
    });
    await writeFile(at('large.onnx'), large);
    const { out, status } = await testCommand(folder, [
      'quantize',
      at('large.onnx'),
      '-o',
      at('l.onnx'),
      '--bits',
      '16',
    ]);
    expect(out).toMatch(
      /^stays float: MatMul, its values reach \d{6}, and float16 ends at 65504: beyond$/m,
    );
    expect(status).toBe(0);
  });

  test('writes a model, and says how far its values moved', async () => {
    const { out, err, status } = await quantize('-o', at('out', 'q.onnx'));
    expect(err).toBe('');
    expect(status).toBe(0);
    expect(out).toMatch(
      /^conv \(Conv\): weights of int8, a scale per channel; weights moved by 0\.\d+%, its output by 0\.\d+% \(cosine 0\.9999\d+\)$/m,
    );
    expect(out).toMatch(
      /^product \(MatMul\): MatMulNBits, 8 bits in blocks of 32; weights moved by 0\.\d+%,/m,
    );
    expect(out).toMatch(/^no weights of their own: 1 Flatten, 1 Add$/m);
    expect(out).toMatch(/^on 8 random input\(s\), beside the float model:$/m);
    expect(out).toMatch(
      /^ {2}output y: cosine 0\.9999\d+, at worst 0\.9999\d+; off by at most 0\.\d+% of its range, /m,
    );
    expect(out).toMatch(/^the cosine of each output is at least 0\.9998$/m);
    const written = readMessage('ModelProto', await readFile(at('out', 'q.onnx')));
    expect(written.graph?.node.map(({ opType }) => opType)).toContain('MatMulNBits');
    const ran = await testCommand(folder, [
      'run',
      at('out', 'q.onnx'),
      '--device',
      'host',
      ...SAMPLE(),
    ]);
    expect(ran.status).toBe(0);
    expect(ran.out).toMatch(/^y: float32 \[2, 32\]/);
  });

  test('an executable, on samples of a folder', async () => {
    const output = at('q.weft');
    const args = ['-o', output, '--bits', '4', '--symmetric', '--block', '16'];
    const { out, status } = await quantize(...args, '--calibrate', at('samples'));
    expect(status).toBe(0);
    expect(out).toContain('MatMulNBits, 4 bits in blocks of 16');
    expect(out).toContain('on 2 sample(s) of /samples, beside the float model:');
    expect(out).toContain('rounded to uint8: x, a\n');
    const ran = await testCommand(folder, ['run', output, '--device', 'host', ...SAMPLE()]);
    expect(ran.status).toBe(0);
  });

  test('with samples, but activations that stay float', async () => {
    const args = ['-o', at('w8.onnx'), '--weights-only', '--calibrate', at('samples')];
    const { out, status } = await quantize(...args);
    expect(status).toBe(0);
    expect(out).toContain('on 2 sample(s) of /samples, beside the float model:');
    expect(out).not.toContain('rounded to uint8');
    const [written, plain] = [await readFile(at('w8.onnx')), at('plain.onnx')];
    const operators = readMessage('ModelProto', written).graph?.node.map(({ opType }) => opType);
    expect(operators).toEqual(['DequantizeLinear', 'Conv', 'Flatten', 'MatMulNBits', 'Add']);
    await quantize('-o', plain, '--no-run');
    // The samples say how weights are rounded.
    expect(written.equals(await readFile(plain))).toBe(false);
    expect(written.byteLength).toBe((await readFile(plain)).byteLength);
  });

  test('layers of a branch by samples that take it', async () => {
    const branch = (name: string) => ({
      graph: {
        nodes: [{ op: 'MatMul', name, inputs: ['x', 'v'], outputs: [`${name}_y`] }],
        outputs: [`${name}_y`],
        initializers: { v: randomTensor([64, 32], name.length) },
      },
    });
    const model = writeOnnxModel({
      inputs: [
        { name: 'c', shape: [], dtype: 'bool' },
        { name: 'x', shape: [2, 64] },
      ],
      nodes: [
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['y'],
          attributes: { then_branch: branch('taken'), else_branch: branch('left') },
        },
      ],
      outputs: ['y'],
    });
    await writeFile(at('b.onnx'), model);
    for (let i = 0; i < 8; i++) {
      const sample = at('branches', `${i}`);
      await mkdir(sample, { recursive: true });
      await writeFile(join(sample, 'c.npy'), writeNpy(HostTensor.from('bool', [], [1])));
      await writeFile(join(sample, 'x.npy'), writeNpy(randomTensor([2, 64], i)));
    }
    const args = ['quantize', at('b.onnx'), '-o', at('b8.onnx'), '--calibrate', at('branches')];
    const { out, status } = await testCommand(folder, args);
    expect(status).toBe(0);
    expect(out).toMatch(
      /^taken \(MatMul\): MatMulNBits, 8 bits in blocks of 32; weights moved by [\d.]+%$/m,
    );
    expect(out).toMatch(/^left \(MatMul\): .*; no sample reaches it, rounded to the nearest$/m);
  });

  test('layers stay float for the cosine that is wanted', async () => {
    const { out, status } = await quantize('-o', at('k.onnx'), '--bits', '4', '--cosine', '0.9999');
    expect(status).toBe(0);
    expect(out).toContain(
      'stays float: MatMul, outputs would have a cosine below 0.9999: product\n',
    );
    expect(out).toContain('conv (Conv): weights of int8');
  });

  test('as JSON, with a node that was to stay', async () => {
    const { out, status } = await quantize('-o', at('j.onnx'), '--json', '--keep', 'conv');
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      layers: [{ node: 'product', operator: 'MatMul' }],
      kept: [{ node: 'conv', reason: 'it was asked to' }],
      values: { y: { cosine: expect.closeTo(1, 3), sameTop: expect.any(Number) } },
      outputs: ['y'],
    });
  });

  test('what is quantised already is passed through', async () => {
    await quantize('-o', at('once.onnx'), '--no-run');
    const again = await testCommand(folder, ['quantize', at('once.onnx'), '-o', at('twice.onnx')]);
    expect(again.status).toBe(0);
    expect(again.out).toContain(
      'the model is quantised already (DequantizeLinear, MatMulNBits): it is passed through as it is\n',
    );
    expect(await readFile(at('twice.onnx'))).toEqual(await readFile(at('once.onnx')));
  });

  test('a model that cannot run is written, and the status says so', async () => {
    const model = writeOnnxModel({
      inputs: [{ name: 'x', shape: [1, 64] }],
      nodes: [
        { op: 'MatMul', inputs: ['x', 'v'], outputs: ['a'] },
        { op: 'Unheard', domain: 'my.domain', inputs: ['a'], outputs: ['y'] },
      ],
      initializers,
      outputs: ['y'],
    });
    await writeFile(at('u.onnx'), model);
    const args = ['quantize', at('u.onnx'), '-o', at('u8.onnx')];
    const { out, status } = await testCommand(folder, args);
    expect(status).toBe(1);
    expect(out).toMatch(/^the outputs could not be compared: .*my\.domain/m);
    expect(existsSync(at('u8.onnx'))).toBe(true);
    const without = await testCommand(folder, [...args, '--no-run']);
    expect(without.status).toBe(0);
    expect(without.out).not.toContain('compared');
  });
});

/** The options of `weft run` for the inputs of a sample. */
const SAMPLE = (): string[] =>
  ['one'].flatMap((name) => [
    '-i',
    `x=${at('samples', name, 'x.npy')}`,
    '-i',
    `shift=${at('samples', name, 'input_1.pb')}`,
  ]);

describe('wrong usage', () => {
  test.each([
    [['--bits', '5'], 'It has to be 4, 8 or 16.'],
    [['--block', '24'], 'quantize: got blocks of 24, expected a power of two from 16 to 65536.'],
    [['--cosine', '2'], 'It has to be a number from 0 to 1.'],
    [['--samples', '0'], 'It has to be an integer from 1 on.'],
    [
      ['--calibrate', '/nowhere'],
      '/nowhere: got no folder that can be read, expected a folder of samples.',
    ],
    [['--dim', 'm=3'], 'dims: got "m"'],
  ])('%j', async (args, message) => {
    const { err, status } = await quantize('-o', at('never.onnx'), ...args);
    expect(status).toBe(2);
    expect(err).toContain(message);
    expect(existsSync(at('never.onnx'))).toBe(false);
  });

  test('files', async () => {
    const missing = await testCommand(folder, [
      'quantize',
      at('none.onnx'),
      '-o',
      at('never.onnx'),
    ]);
    expect(missing.err).toBe(
      'weft: /none.onnx: got no such file, expected a file that can be read.\n',
    );
    expect(missing.status).toBe(2);
    await writeFile(at('page.onnx'), '<html>');
    const page = await testCommand(folder, ['quantize', at('page.onnx'), '-o', at('never.onnx')]);
    expect(page.err).toContain('This is markup');
    expect(page.status).toBe(1);
    expect((await testCommand(folder, ['quantize', at('m.onnx')])).err).toContain(
      "'-o, --output <file>' not specified",
    );
  });

  test.each([
    [
      'none',
      {},
      '/none: got no samples, expected a folder for each sample, with x.npy, shift.npy.',
    ],
    [
      'missing',
      { 'x.npy': [1, 1, 4, 4] },
      '/missing/s: got no file for the input "shift", expected shift.npy, .pb or .json, or input_1.',
    ],
    [
      'unknown',
      { 'x.npy': [1, 1, 4, 4], 'z.npy': [1] },
      '/unknown/s/z.npy: got no input of that name, expected a file named after one of the inputs "x", "shift", or input_0 and so on.',
    ],
    [
      'shape',
      { 'x.npy': [1, 1, 5, 4], 'shift.npy': [1] },
      '/shape/s/x.npy: got float32 [1, 1, 5, 4], expected float32 [n, 1, 4, 4] for the input "x".',
    ],
  ])('samples: %s', async (name, files, message) => {
    await mkdir(at(name, 's'), { recursive: true });
    for (const [file, shape] of Object.entries(files)) {
      await writeFile(at(name, 's', file), writeNpy(randomTensor(shape, 1)));
    }
    const { err, status } = await quantize('-o', at('never.onnx'), '--calibrate', at(name));
    expect(err).toContain(message);
    expect(status).toBe(2);
  });

  test('a file each for a model with one input', async () => {
    const model = writeOnnxModel({
      inputs: [{ name: 'x', shape: [1, 64] }],
      nodes: [{ op: 'MatMul', inputs: ['x', 'v'], outputs: ['y'] }],
      initializers,
      outputs: ['y'],
    });
    await writeFile(at('one.onnx'), model);
    await mkdir(at('flat'));
    await writeFile(
      at('flat', 'b.json'),
      JSON.stringify(Array.from({ length: 64 }, (_, i) => i / 64)),
    );
    await writeFile(at('flat', 'a.npy'), writeNpy(randomTensor([1, 64], 1)));
    const args = ['quantize', at('one.onnx'), '-o', at('one8.onnx'), '--calibrate', at('flat')];
    const { out, status } = await testCommand(folder, args);
    expect(status).toBe(0);
    expect(out).toContain('on 2 sample(s) of /flat');
  });
});
