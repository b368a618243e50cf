import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeviceTensor, Session, Tensor } from '../../client/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { type CommandResult, testCommand } from '../testing/test-command.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const weft = (...args: string[]): Promise<CommandResult> => testCommand(folder, args);
const options = { device: 'host', worker: false } as const;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-grad-'));
  await writeFile(
    at('model.onnx'),
    writeOnnxModel({
      nodes: [
        { op: 'MatMul', inputs: ['x', 'w'], outputs: ['h'] },
        { op: 'Add', inputs: ['h', 'b'], outputs: ['y'] },
      ],
      inputs: [{ name: 'x', shape: ['batch', 1] }],
      outputs: ['y'],
      initializers: {
        w: HostTensor.from('float32', [1, 1], [0]),
        b: HostTensor.from('float32', [1], [0]),
      },
    }),
  );
});

afterAll(() => rm(folder, { recursive: true }));

test('a model is trained, stored, resumed and exported', async () => {
  const written = await weft(
    'grad',
    at('model.onnx'),
    '--loss=mean-squared-error',
    '--wrt=*',
    '--lr=0.2',
    '--optimizer=momentum:momentum=0.5',
    '--batch=2',
    '-o',
    at('train.weft'),
  );
  expect(written.err).toBe('');
  expect(written.out).toMatch(/^\/train\.weft: .*, 5 tensor\(s\) of state\n$/);
  const executable = new Uint8Array(await readFile(at('train.weft')));
  // y = 2 x + 1
  const batch = {
    x: new Tensor('float32', Float32Array.of(0, 1), [2, 1]),
    targets: new Tensor('float32', Float32Array.of(1, 3), [2, 1]),
  };
  const names = ['w', 'b', 'w.velocity', 'b.velocity', 'step'];
  const train = async (session: Session, first: Record<string, Tensor | DeviceTensor>) => {
    let state = first;
    for (let i = 0; i < 60; i++) {
      const outputs = await session.run(
        { ...state, ...batch },
        { keep: names, donate: i === 0 ? [] : names },
      );
      state = Object.fromEntries(names.map((name) => [name, outputs[name] ?? Tensor.from(0)]));
    }
    return state;
  };
  const session = await Session.load(executable, options);
  const halfWay = await train(session, await session.run({}, { function: 'init' }));
  await session.pause();
  const stored = await session.snapshot({ tensors: halfWay });
  await session.dispose();
  const resumed = await Session.resume(stored, { executable, ...options });
  const state = await train(resumed, resumed.resumed.tensors as Record<string, DeviceTensor>);
  await resumed.pause();
  await writeFile(at('snapshot'), await resumed.snapshot({ tensors: state }));
  await resumed.dispose();
  for (const output of ['trained.onnx', 'trained.weft']) {
    const training = ['--training', at('train.weft'), '--snapshot', at('snapshot')];
    const exported = await weft('export', at('model.onnx'), ...training, '-o', at(output));
    expect(exported.err).toBe('');
    expect(exported.out).toMatch(/2 initializer\(s\) of the training\n$/);
    await using trained = await Session.load(await readFile(at(output)), options);
    const { y } = await trained.run({ x: new Tensor('float32', Float32Array.of(3), [1, 1]) });
    expect(y?.data[0]).toBeCloseTo(7, 2);
  }
});

test('a state without a weight is refused', async () => {
  await weft('grad', at('model.onnx'), '--loss', 'huber', '--wrt', 'w', '-o', at('one.weft'));
  const training = ['--training', at('one.weft'), '-o', at('trained.onnx')];
  const { status, err } = await weft('export', at('model.onnx'), ...training);
  expect(status).toBe(2);
  expect(err).toContain('--tensor: got no tensor "w", expected all weights of the training');
  await writeFile(at('w.json'), '[[4]]');
  const given = await weft(
    'export',
    at('model.onnx'),
    ...training,
    '--tensor',
    `w=${at('w.json')}`,
  );
  expect(given.status).toBe(0);
});

test.each([
  [['--loss', 'entropy'], 'Expected one of cross-entropy, binary-cross-entropy'],
  [['--loss', 'huber:gamma=1'], 'huber has no setting gamma; it has delta.'],
  [['--loss', 'huber', '--schedule', 'cosine'], 'cosine needs steps: cosine:steps=1000.'],
  [['--loss', 'huber', '--lora', 'four'], 'Write it as RANK or RANK:ALPHA.'],
  [['--loss', 'huber', '--clip', 'size=1'], 'Write it as norm=NUMBER, value=NUMBER'],
  [['--loss', 'huber', '--targets', 'float'], '--targets: got float, expected a dtype'],
  [['--loss', 'huber', '--of', 'z'], 'output: got "z", expected one of "y"'],
])('%o is wrong usage', async (args, message) => {
  const { status, err } = await weft(
    'grad',
    at('model.onnx'),
    '--wrt=*',
    '-o',
    at('no.weft'),
    ...args,
  );
  expect(status).toBe(2);
  expect(err).toContain(message);
});
