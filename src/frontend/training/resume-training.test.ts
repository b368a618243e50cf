import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type DeviceTensor, type Inputs, Session, Tensor } from '../../client/index.ts';
import { compile } from '../../compiler/compile.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { gradOnnx } from './grad-onnx.ts';
import type { TrainingOptions } from './training-options.ts';

const ON_WASM = { device: 'wasm', worker: false } as const;
const STEPS = 4;
/** The process dies in the step after so many. */
const STORED = 2;

const random = seededRandom(5);
const numbers = (count: number) => Float32Array.from({ length: count }, () => random() * 2 - 1);
const halves = (count: number) => Uint16Array.from(numbers(count), numberToFloat16);
const classes = (...of: bigint[]) => new Tensor('int64', BigInt64Array.from(of), [of.length]);
const crossEntropy = { loss: { name: 'cross_entropy' } } as const;

const DIGITS = await readFile(new URL('../../../models/digits/model.onnx', import.meta.url));
/** y = x w, three classes of two numbers. */
const HALF = writeOnnxModel({
  inputs: [{ name: 'x', dtype: 'float16', shape: ['batch', 2] }],
  nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
  initializers: { w: new HostTensor('float16', [2, 3], halves(6)) },
  outputs: ['y'],
});

interface ResumedTraining {
  readonly title: string;
  readonly model: Uint8Array;
  readonly options: TrainingOptions;
  readonly inputs: () => Record<string, Tensor>;
}

/** The model reads one digit at a time. */
const oneDigit = () => ({
  image: new Tensor('float32', numbers(784), [1, 1, 28, 28]),
  targets: classes(7n),
});
const optimizer = { name: 'adamw' } as const;

const TRAININGS: readonly ResumedTraining[] = [
  {
    title: 'float32',
    model: DIGITS,
    options: { ...crossEntropy, wrt: ['*'], optimizer },
    inputs: oneDigit,
  },
  {
    title: 'low-rank adapters',
    model: DIGITS,
    options: { ...crossEntropy, wrt: ['dense.weight'], optimizer, lora: { rank: 2 } },
    inputs: oneDigit,
  },
  {
    title: 'half precision with a dynamic factor of the loss',
    model: HALF,
    options: { ...crossEntropy, wrt: ['w'], optimizer, lossScale: 'dynamic' },
    inputs: () => ({
      x: new Tensor('float16', halves(8), [4, 2]),
      targets: classes(2n, 0n, 1n, 2n),
    }),
  },
];

test.each(TRAININGS)(
  'a training that dies in the middle of a step has the same bits later: $title',
  async ({ model, options, inputs }) => {
    const { module, state } = gradOnnx(model, options);
    const executable = compile(module).toBytes();
    const batches = Array.from({ length: STEPS }, inputs);

    const step = async (session: Session, values: Inputs, at: number): Promise<Inputs> => {
      const outputs = await session.run({ ...values, ...batches[at] }, { keep: state });
      return Object.fromEntries(
        state.flatMap((name) => (outputs[name] === undefined ? [] : [[name, outputs[name]]])),
      );
    };
    const train = async (
      session: Session,
      first: Inputs,
      [from, to]: readonly [number, number],
    ) => {
      let values = first;
      for (let at = from; at < to; at++) values = await step(session, values, at);
      return values;
    };
    const bitsOf = async (values: Inputs): Promise<Record<string, Uint8Array>> => {
      const found: Record<string, Uint8Array> = {};
      for (const [name, value] of Object.entries(values)) {
        const { data } = await (value as DeviceTensor).read();
        found[name] = new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
      }
      return found;
    };
    const init = (session: Session) => session.run({}, { function: 'init' });

    await using whole = await Session.load(executable, ON_WASM);
    const expected = await bitsOf(await train(whole, await init(whole), [0, STEPS]));

    const dying = await Session.load(executable, ON_WASM);
    const halfWay = await train(dying, await init(dying), [0, STORED]);
    await dying.pause();
    const stored = await dying.snapshot({ tensors: halfWay as Record<string, DeviceTensor> });
    await dying.continue();
    const lost = step(dying, halfWay, STORED).then(
      () => 'done',
      () => 'lost',
    );
    await dying.dispose();
    await lost;

    await using resumed = await Session.resume(stored, { executable, ...ON_WASM });
    const kept = resumed.resumed.tensors as Record<string, DeviceTensor>;
    expect(Object.keys(kept).toSorted()).toEqual(state.toSorted());
    const before = await bitsOf(kept);
    const found = await bitsOf(await train(resumed, kept, [STORED, STEPS]));
    expect(found).toEqual(expected);
    // It went on, and not from its begin.
    expect(found).not.toEqual(before);
    expect([...(before['step'] ?? [])]).toEqual([STORED, 0, 0, 0]);
  },
);
