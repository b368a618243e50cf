import { describe, expect, test } from 'vitest';
import { Session, Tensor } from '../../../../client/index.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../../../testing/onnx-writer.ts';

const COUNT = 40_000;

interface DrawArguments {
  readonly attributes?: OnnxNodeSpec['attributes'];
  readonly x?: Tensor;
  readonly device?: 'host' | 'wasm';
  /** How many nodes of the same kind the model has. */
  readonly nodes?: number;
}

/** The outputs of nodes of one operator. */
async function draw(op: string, { attributes = {}, x, device = 'host', nodes = 1 }: DrawArguments) {
  const outputs = Array.from({ length: nodes }, (_, i) => `y${i}`);
  const model = writeOnnxModel({
    opset: 22,
    nodes: outputs.map((output) => ({
      op,
      name: `draw ${output}`,
      inputs: x === undefined ? [] : ['x'],
      outputs: [output],
      attributes,
    })),
    inputs: x === undefined ? [] : [{ name: 'x', dtype: x.dtype, shape: [...x.shape] }],
    outputs,
  });
  const session = await Session.load(model, { worker: false, device });
  const results = await session.run(x === undefined ? {} : { x });
  await session.dispose();
  return outputs.map((name) => results[name] as Tensor);
}

const numbers = (tensor: Tensor | undefined): number[] => [...(tensor?.data ?? [])].map(Number);
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values: readonly number[]): number => {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
};
const zeros = (shape: readonly number[]) =>
  new Tensor('float32', new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);

test('uniform numbers fill their interval evenly', async () => {
  const [y] = await draw('RandomUniform', {
    attributes: { shape: [200, 200], low: { float: -3 }, high: { float: 5 }, seed: { float: 7.5 } },
  });
  expect(y?.dtype).toBe('float32');
  expect(y?.shape).toEqual([200, 200]);
  const drawn = numbers(y);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(-3);
  expect(Math.max(...drawn)).toBeLessThan(5);
  const tenths = Array.from(
    { length: 10 },
    (_, tenth) => drawn.filter((value) => Math.floor(((value + 3) / 8) * 10) === tenth).length,
  );
  // Five deviations of a binomial distribution.
  for (const count of tenths) expect(Math.abs(count - COUNT / 10)).toBeLessThan(300);
});

test('normal numbers have their mean and deviation, and the shares of a normal distribution', async () => {
  const [y] = await draw('RandomNormalLike', {
    attributes: { mean: { float: 2 }, scale: { float: 0.5 }, seed: { float: 1 } },
    x: zeros([COUNT]),
  });
  const drawn = numbers(y);
  expect(drawn.every(Number.isFinite)).toBe(true);
  expect(Math.abs(mean(drawn) - 2)).toBeLessThan(0.0125);
  expect(Math.abs(deviation(drawn) - 0.5)).toBeLessThan(0.01);
  for (const [deviations, share] of [
    [1, 0.6827],
    [2, 0.9545],
    [3, 0.9973],
  ] as const) {
    const within = drawn.filter((value) => Math.abs(value - 2) < deviations * 0.5).length / COUNT;
    expect(Math.abs(within - share)).toBeLessThan(0.012);
  }
});

test('each element is 1 with its probability', async () => {
  const x = new Tensor(
    'float32',
    Float32Array.from({ length: COUNT }, (_, i) => (i % 4) / 3),
    [COUNT],
  );
  const [y] = await draw('Bernoulli', { x, attributes: { dtype: 9 } });
  expect(y?.dtype).toBe('bool');
  for (let kind = 0; kind < 4; kind++) {
    const own = numbers(y).filter((_, i) => i % 4 === kind);
    expect(Math.abs(mean(own) - kind / 3)).toBeLessThan(0.025);
  }
});

test('classes come as often as their probabilities say', async () => {
  const shares = [0.1, 0.2, 0.7];
  const x = new Tensor('float32', Float32Array.from([...shares, ...shares], Math.log), [2, 3]);
  const [y] = await draw('Multinomial', {
    x,
    attributes: { sample_size: COUNT / 4, seed: { float: 3 }, dtype: 7 },
  });
  expect(y?.dtype).toBe('int64');
  expect(y?.shape).toEqual([2, COUNT / 4]);
  const rows = [numbers(y).slice(0, COUNT / 4), numbers(y).slice(COUNT / 4)];
  for (const row of rows) {
    for (const [i, share] of shares.entries()) {
      const found = row.filter((drawn) => drawn === i).length / row.length;
      expect(Math.abs(found - share)).toBeLessThan(0.025);
    }
  }
  expect(rows[0]).not.toEqual(rows[1]);
});

describe('seeds', () => {
  const shape = [50];
  const uniform = async (attributes: DrawArguments['attributes'], rest: DrawArguments = {}) =>
    (await draw('RandomUniform', { ...rest, attributes: { shape, ...attributes } })).map(numbers);

  test('one seed gives the same numbers in each session, on each device', async () => {
    const [first] = await uniform({ seed: { float: 4 } });
    expect(await uniform({ seed: { float: 4 } })).toEqual([first]);
    expect(await uniform({ seed: { float: 4 } }, { device: 'wasm' })).toEqual([first]);
    expect(await uniform({ seed: { float: 4.25 } })).not.toEqual([first]);
  });

  test('two nodes draw other numbers, with a seed and without', async () => {
    for (const attributes of [{ seed: { float: 4 } }, {}]) {
      const [one, other] = await uniform(attributes, { nodes: 2 });
      expect(one).not.toEqual(other);
    }
  });
});

test('other dtypes', async () => {
  const [half] = await draw('RandomUniform', { attributes: { shape: [3], dtype: 10 } });
  expect(half?.dtype).toBe('float16');
  const [double] = await draw('RandomNormalLike', { x: zeros([2, 3]), attributes: { dtype: 11 } });
  expect([double?.dtype, double?.shape]).toEqual(['float64', [2, 3]]);
});

test('sizes that only a run knows', async () => {
  const model = writeOnnxModel({
    opset: 22,
    nodes: [{ op: 'RandomUniformLike', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', shape: ['n', 3] }],
    outputs: ['y'],
  });
  const session = await Session.load(model, { worker: false, device: 'host' });
  const [few, many] = [
    await session.run({ x: zeros([2, 3]) }),
    await session.run({ x: zeros([9, 3]) }),
  ];
  expect([few['y']?.shape, many['y']?.shape]).toEqual([
    [2, 3],
    [9, 3],
  ]);
  // Element i is that of i.
  expect(numbers(many['y'] as Tensor).slice(0, 6)).toEqual(numbers(few['y'] as Tensor));
  await session.dispose();
});

test('wrong attributes', async () => {
  await expect(draw('RandomUniform', {})).rejects.toThrow('got no attribute shape, expected one');
  await expect(draw('RandomNormal', { attributes: { shape: [2], dtype: 7 } })).rejects.toThrow(
    'got numbers of int64, expected floats: set the attribute dtype',
  );
  await expect(
    draw('Multinomial', { x: zeros([2, 3]), attributes: { sample_size: 0 } }),
  ).rejects.toThrow('got sample_size 0, expected an integer from 1 up');
});
