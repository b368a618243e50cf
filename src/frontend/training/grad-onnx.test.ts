import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../client/index.ts';
import { compile } from '../../compiler/compile.ts';
import { REFERENCE_OPTIMIZERS } from '../../compiler/training/testing/reference-optimizers.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { gradOnnx } from './grad-onnx.ts';
import type { TrainingOptions } from './training-options.ts';

const random = seededRandom(11);
const randoms = (count: number) => Array.from({ length: count }, () => random() * 2 - 1);

/** y = softmax(x w + b), three classes of two numbers. */
const LINEAR: OnnxModelSpec = {
  opset: 17,
  inputs: [{ name: 'x', shape: ['batch', 2] }],
  nodes: [
    {
      op: 'Gemm',
      inputs: ['x', 'layer.weight', 'layer.bias'],
      outputs: ['h'],
      attributes: { transB: 1 },
    },
    { op: 'Softmax', inputs: ['h'], outputs: ['y'] },
  ],
  initializers: {
    'layer.weight': HostTensor.from('float32', [3, 2], randoms(6)),
    'layer.bias': HostTensor.from('float32', [3], randoms(3)),
  },
  outputs: ['y'],
};

const X = randoms(8);
const CLASSES = [2, 0, 1, 2];
const BATCH = {
  x: new Tensor('float32', Float32Array.from(X), [4, 2]),
  targets: new Tensor('int64', BigInt64Array.from(CLASSES.map(BigInt)), [4]),
};

type Outputs = Record<string, Tensor>;

class Training {
  readonly session: Session;
  readonly state: readonly string[];
  readonly weights: readonly string[];
  readonly notes: readonly string[];
  values: Outputs = {};

  private constructor(session: Session, { state, weights, notes }: ReturnType<typeof gradOnnx>) {
    this.session = session;
    this.state = state;
    this.weights = weights;
    this.notes = notes;
  }

  static async open(spec: OnnxModelSpec, options: TrainingOptions): Promise<Training> {
    const program = gradOnnx(writeOnnxModel(spec), options);
    const bytes = compile(program.module, { verify: true }).toBytes();
    const session = await Session.load(bytes, { device: 'host', worker: false });
    const training = new Training(session, program);
    training.values = await session.run({}, { function: 'init' });
    return training;
  }

  async step(batch: Outputs): Promise<Outputs> {
    const outputs = await this.session.run({ ...this.values, ...batch });
    this.values = Object.fromEntries(
      this.state.map((name) => [name, outputs[name] ?? Tensor.from(0)]),
    );
    return outputs;
  }

  async call(name: string, batch: Outputs = {}): Promise<Outputs> {
    const weights = this.weights.map((weight) => [weight, this.values[weight] ?? Tensor.from(0)]);
    return this.session.run({ ...Object.fromEntries(weights), ...batch }, { function: name });
  }

  numbers(name: string): number[] {
    return Array.from(this.values[name]?.data ?? [], Number);
  }
}

const CROSS_ENTROPY = { name: 'cross_entropy' } as const;

/** The gradient of the mean cross entropy of the model above, in double precision. */
function reference(w: readonly number[], b: readonly number[]) {
  const [dw, db] = [new Array<number>(6).fill(0), new Array<number>(3).fill(0)];
  let loss = 0;
  for (const [i, wanted] of CLASSES.entries()) {
    const [x0 = 0, x1 = 0] = X.slice(2 * i);
    const scores = b.map((bias, c) => bias + x0 * (w[2 * c] ?? 0) + x1 * (w[2 * c + 1] ?? 0));
    const sum = scores.reduce((total, score) => total + Math.exp(score), 0);
    loss -= ((scores[wanted] ?? 0) - Math.log(sum)) / 4;
    for (const [c, score] of scores.entries()) {
      const slope = (Math.exp(score) / sum - (c === wanted ? 1 : 0)) / 4;
      dw[2 * c] = (dw[2 * c] ?? 0) + slope * x0;
      dw[2 * c + 1] = (dw[2 * c + 1] ?? 0) + slope * x1;
      db[c] = (db[c] ?? 0) + slope;
    }
  }
  return { loss, dw, db };
}

const close = (got: readonly number[], wanted: readonly number[], digits = 5) => {
  expect(got.length).toBe(wanted.length);
  for (const [i, value] of wanted.entries()) expect(got[i]).toBeCloseTo(value, digits);
};

describe('gradOnnx', () => {
  test('steps as a reference in double precision does', async () => {
    const training = await Training.open(LINEAR, {
      wrt: ['*.weight', '*.bias'],
      loss: CROSS_ENTROPY,
      optimizer: { name: 'adamw', settings: { decay: 0.1 } },
      rate: 0.1,
      schedule: { name: 'cosine_rate', settings: { steps: 10, warmup: 2 } },
    });
    expect(training.state).toEqual([
      'layer.weight',
      'layer.bias',
      'layer.weight.mean',
      'layer.weight.square',
      'layer.bias.mean',
      'layer.bias.square',
      'step',
    ]);
    expect(training.notes).toEqual([
      'cross_entropy is taken before the softmax at the end of the model',
    ]);
    let w = training
      .numbers('layer.weight')
      .map((v) => ({ w: v, slots: [0, 0] as readonly number[] }));
    let b = training
      .numbers('layer.bias')
      .map((v) => ({ w: v, slots: [0, 0] as readonly number[] }));
    for (const step of [1, 2, 3, 4]) {
      const progress = Math.max(step - 2, 0) / 8;
      const rate = 0.1 * Math.min(1, step / 2) * ((1 + Math.cos(Math.PI * progress)) / 2);
      const { loss, dw, db } = reference(
        w.map((s) => s.w),
        b.map((s) => s.w),
      );
      const call = { rate, step, settings: { decay: 0.1 } };
      w = w.map((s, i) => REFERENCE_OPTIMIZERS.adamw(s, dw[i] ?? 0, call));
      b = b.map((s, i) => REFERENCE_OPTIMIZERS.adamw(s, db[i] ?? 0, call));
      const outputs = await training.step(BATCH);
      expect(Number(outputs['loss']?.data[0])).toBeCloseTo(loss, 5);
      close(
        training.numbers('layer.weight'),
        w.map((s) => s.w),
      );
      close(
        training.numbers('layer.bias'),
        b.map((s) => s.w),
      );
    }
    expect(training.numbers('step')).toEqual([4]);
    const { loss } = reference(
      w.map((s) => s.w),
      b.map((s) => s.w),
    );
    const evaluated = await training.call('evaluate', BATCH);
    expect(Number(evaluated['loss']?.data[0])).toBeCloseTo(loss, 5);
    const { y } = await training.call('predict', { x: BATCH.x });
    expect(Array.from(y?.data.slice(0, 3) ?? [], Number).reduce((a, v) => a + v)).toBeCloseTo(1, 5);
    const weights = await training.call('weights');
    expect(Object.keys(weights)).toEqual(['layer.weight', 'layer.bias']);
  });

  test('trains what the patterns name, clips, and takes a rate', async () => {
    const training = await Training.open(LINEAR, {
      wrt: ['*.bias'],
      loss: CROSS_ENTROPY,
      optimizer: { name: 'sgd' },
      rate: 'input',
      clip: { norm: 0.05 },
    });
    const before = training.numbers('layer.bias');
    const weight = LINEAR.initializers?.['layer.weight'];
    const { db } = reference(Array.from(weight?.data ?? [], Number), before);
    const norm = Math.hypot(...db);
    const { gradient_norm: got } = await training.step({ ...BATCH, rate: Tensor.from(2) });
    expect(Number(got?.data[0])).toBeCloseTo(norm, 5);
    expect(training.state).toEqual(['layer.bias', 'step']);
    close(
      training.numbers('layer.bias'),
      before.map((v, i) => v - (2 * 0.05 * (db[i] ?? 0)) / norm),
    );
  });

  test('half precision: weights in single, the loss scaled, steps that overflow skipped', async () => {
    const halves = (values: readonly number[]) => Uint16Array.from(values, numberToFloat16);
    const half = (tensor?: HostTensor) =>
      new HostTensor(
        'float16',
        tensor?.shape ?? [],
        halves(Array.from(tensor?.data ?? [], Number)),
      );
    const training = await Training.open(
      {
        ...LINEAR,
        inputs: [{ name: 'x', dtype: 'float16', shape: ['batch', 2] }],
        initializers: {
          'layer.weight': half(LINEAR.initializers?.['layer.weight']),
          'layer.bias': half(LINEAR.initializers?.['layer.bias']),
        },
      },
      {
        wrt: ['*'],
        loss: CROSS_ENTROPY,
        optimizer: { name: 'momentum' },
        rate: 0.1,
        lossScale: 'dynamic',
      },
    );
    const w = training.numbers('layer.weight');
    const b = training.numbers('layer.bias');
    expect(training.values['layer.weight']?.dtype).toBe('float32');
    const { dw, loss } = reference(w, b);
    const x = (size: number) => new Tensor('float16', halves(X.map((v) => v * size)), [4, 2]);
    const good = await training.step({ ...BATCH, x: x(1) });
    expect(Number(good['loss']?.data[0])).toBeCloseTo(loss, 2);
    close(
      training.numbers('layer.weight'),
      w.map((v, i) => v - 0.1 * (dw[i] ?? 0)),
      3,
    );
    expect(training.numbers('loss_scale')).toEqual([65536]);
    const kept = training.numbers('layer.weight');
    await training.step({ ...BATCH, x: x(60) });
    expect(training.numbers('layer.weight')).toEqual(kept);
    expect(training.numbers('step')).toEqual([1]);
    expect(training.numbers('loss_scale')).toEqual([32768]);
    const weights = await training.call('weights');
    expect(weights['layer.weight']?.dtype).toBe('float16');
  });

  test('Dropout drops, and batch norm takes the statistics of the batch', async () => {
    const training = await Training.open(
      {
        opset: 17,
        inputs: [{ name: 'x', shape: ['n', 2] }],
        nodes: [
          { op: 'BatchNormalization', inputs: ['x', 's', 'b', 'mean', 'var'], outputs: ['h'] },
          { op: 'Dropout', inputs: ['h'], outputs: ['y'] },
        ],
        initializers: {
          s: HostTensor.from('float32', [2], [1, 2]),
          b: HostTensor.from('float32', [2], [0, 0]),
          mean: HostTensor.from('float32', [2], [0, 0]),
          var: HostTensor.from('float32', [2], [1, 1]),
        },
        outputs: ['y'],
      },
      { wrt: ['s', 'b'], loss: { name: 'mean_squared_error' }, optimizer: { name: 'sgd' } },
    );
    expect(training.state).toEqual(['s', 'b', 'mean', 'var', 'step']);
    expect(training.notes).toEqual([
      'batch statistics are used, and 2 running averages go along',
      'Dropout drops others in each step',
    ]);
    const x = new Tensor('float32', Float32Array.of(1, 2, 3, 6), [2, 2]);
    const targets = new Tensor('float32', new Float32Array(4), [2, 2]);
    await training.step({ x, targets });
    close(training.numbers('mean'), [0.2, 0.4]);
    close(training.numbers('var'), [0.9 + 0.1, 0.9 + 0.4]);
    const { y } = await training.call('predict', { x });
    // As in inference, by the running averages.
    const s = training.numbers('s');
    const b = training.numbers('b');
    expect(Number(y?.data[0])).toBeCloseTo(
      ((1 - 0.2) / Math.sqrt(1 + 1e-5)) * (s[0] ?? 0) + (b[0] ?? 0),
      5,
    );
  });

  test('low-rank factors beside matrices of floats are trained, and merged', async () => {
    const training = await Training.open(LINEAR, {
      wrt: ['layer.weight'],
      loss: CROSS_ENTROPY,
      optimizer: { name: 'sgd' },
      rate: 0.5,
      lora: { rank: 2, alpha: 4 },
    });
    expect(training.state).toEqual(['layer.weight.lora_a', 'layer.weight.lora_b', 'step']);
    const w = Array.from(LINEAR.initializers?.['layer.weight']?.data ?? [], Number);
    const b = Array.from(LINEAR.initializers?.['layer.bias']?.data ?? [], Number);
    const { dw, loss } = reference(w, b);
    const a = training.numbers('layer.weight.lora_a');
    const outputs = await training.step(BATCH);
    expect(Number(outputs['loss']?.data[0])).toBeCloseTo(loss, 5);
    // B begins as zero, so that A gets no gradient, and B that of 2 Aᵀ Wᵀ.
    expect(training.numbers('layer.weight.lora_a')).toEqual(a);
    const up = [0, 1].flatMap((r) =>
      [0, 1, 2].map((c) => {
        const slope = [0, 1].reduce(
          (sum, d) => sum + (a[2 * d + r] ?? 0) * (dw[2 * c + d] ?? 0),
          0,
        );
        return -0.5 * 2 * slope;
      }),
    );
    close(training.numbers('layer.weight.lora_b'), up);
    const { loss: evaluated } = await training.call('evaluate', BATCH);
    const weights = await training.call('weights');
    const merged = Array.from(weights['layer.weight']?.data ?? [], Number);
    expect(Number(evaluated?.data[0])).toBeCloseTo(reference(merged, b).loss, 5);
  });

  test.each([4, 8])('low-rank factors beside a matrix of %i bits: its codes stay', async (bits) => {
    const training = await Training.open(
      {
        opset: 17,
        opsets: { 'com.microsoft': 1 },
        inputs: [{ name: 'x', shape: ['n', 32] }],
        nodes: [
          { op: 'MatMul', inputs: ['x', 'first'], outputs: ['h'] },
          {
            op: 'MatMulNBits',
            domain: 'com.microsoft',
            inputs: ['h', 'codes', 'scales'],
            outputs: ['y'],
            attributes: { K: 32, N: 2, bits, block_size: 32 },
          },
        ],
        initializers: {
          first: HostTensor.from('float32', [32, 32], randoms(1024)),
          codes: HostTensor.from(
            'uint8',
            [2, 1, 4 * bits],
            Array.from({ length: 8 * bits }, (_, i) => (i * 7) % 256),
          ),
          scales: HostTensor.from(
            'float32',
            [2],
            [0.8, 1.6].map((scale) => scale / 2 ** (bits - 1)),
          ),
        },
        outputs: ['y'],
      },
      {
        wrt: ['first', 'codes'],
        loss: { name: 'mean_squared_error' },
        rate: 0.05,
        lora: { rank: 1 },
      },
    );
    expect(training.state.filter((name) => name.includes('lora_')).length).toBe(12);
    const batch = {
      x: new Tensor('float32', Float32Array.from(randoms(96)), [3, 32]),
      targets: new Tensor('float32', new Float32Array(6), [3, 2]),
    };
    const losses: number[] = [];
    for (let i = 0; i < 9; i++) losses.push(Number((await training.step(batch))['loss']?.data[0]));
    expect(losses.at(-1)).toBeLessThan(0.8 * (losses[0] ?? 0));
    const weights = await training.call('weights');
    expect(Object.keys(weights)).toEqual(['first', 'codes.lora_a', 'codes.lora_b']);
  });

  test.each([
    [
      { wrt: ['*.gamma'] },
      'wrt: got "*.gamma", which fits nothing, expected initializers of floats: "layer.weight", "layer.bias". A * stands for',
    ],
    [{ output: 'z' }, 'output: got "z", expected one of "y"'],
    [
      { lora: { rank: 2 }, wrt: ['*.bias'] },
      'wrt: got "*.bias", which fits nothing, expected matrices of MatMul, Gemm and MatMulNBits: "layer.weight"',
    ],
  ])('%o is refused', (options, message) => {
    const given = { wrt: ['*'], loss: CROSS_ENTROPY, ...options };
    expect(() => gradOnnx(writeOnnxModel(LINEAR), given)).toThrow(message);
  });
});
