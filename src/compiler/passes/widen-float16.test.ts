import { describe, expect, test } from 'vitest';
import type { TypedArray } from '../../core/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/float16.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { Session, Tensor } from '../../client/index.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { compile } from '../compile.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { parseModule } from '../ir/parse.ts';
import { textAfter } from '../testing/text-after.ts';

const ROWS = 4;
const WIDTH = 64;
const AXES = 'axes=[1], keepdims=true';

const program = (body: string): string =>
  `def @main(%x: Tensor[(${ROWS}, ${WIDTH}), float16]) { ${body} }`;

/** What a row becomes, in doubles. */
type Meaning = (row: readonly number[]) => number[];

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const squares = (values: readonly number[]): number[] => values.map((value) => value ** 2);

const layerNorm: Meaning = (row) => {
  const centered = row.map((value) => value - mean(row));
  return centered.map((value) => value / Math.sqrt(mean(squares(centered)) + 1e-3));
};

const PROGRAMS: readonly (readonly [name: string, body: string, scale: number, Meaning])[] = [
  [
    'layer norm',
    `let %d = sub(%x, reduce_mean(%x, ${AXES}));
     div(%d, sqrt(add(reduce_mean(pow(%d, 2f16), ${AXES}), 0.001f16)))`,
    900,
    layerNorm,
  ],
  [
    'layer norm by the mean of squares',
    `let %m = reduce_mean(%x, ${AXES});
     let %v = sub(reduce_mean(mul(%x, %x), ${AXES}), mul(%m, %m));
     div(sub(%x, %m), sqrt(add(%v, 0.001f16)))`,
    900,
    layerNorm,
  ],
  [
    'RMS norm, its root inverted',
    `mul(%x, div(1f16, sqrt(add(reduce_mean(mul(%x, %x), ${AXES}), 0.001f16))))`,
    3000,
    (row) => row.map((value) => value / Math.sqrt(mean(squares(row)) + 1e-3)),
  ],
  [
    'mean as a sum over the size',
    `div(sub(%x, div(reduce_sum(%x, ${AXES}), 64f16)), 16f16)`,
    30_000,
    (row) => row.map((value) => (value - mean(row)) / 16),
  ],
  [
    'softmax whose largest was not taken off',
    `let %e = exp(%x); div(%e, reduce_sum(%e, ${AXES}))`,
    40,
    (row) => row.map((value) => Math.exp(value) / sum(row.map(Math.exp))),
  ],
  [
    'logarithm of a sum of exponentials',
    `sub(%x, log(reduce_sum(exp(%x), ${AXES})))`,
    40,
    (row) => row.map((value) => value - Math.log(sum(row.map(Math.exp)))),
  ],
  [
    'unit vectors, in between reshaped',
    `let %n = sqrt(reduce_sum(pow(%x, 2f16), axes=[1]));
     div(%x, reshape(%n, shape=[${ROWS}, 1]))`,
    2000,
    (row) => row.map((value) => value / Math.sqrt(sum(squares(row)))),
  ],
];

function inputOf(scale: number): HostTensor {
  const random = seededRandom(3);
  const values = Array.from({ length: ROWS * WIDTH }, (_, i) =>
    // All are positive in the first row, so that sums are large.
    i < WIDTH ? scale * (0.5 + random() / 2) : scale * (2 * random() - 1),
  );
  return HostTensor.from('float16', [ROWS, WIDTH], values.map(numberToFloat16));
}

const numbersOf = ({ data }: { data: TypedArray }): number[] =>
  Array.from(data as ArrayLike<number>, float16ToNumber);

function expectedOf(x: HostTensor, meaning: Meaning): number[] {
  const values = numbersOf(x);
  return Array.from({ length: ROWS }, (_, row) =>
    meaning(values.slice(row * WIDTH, (row + 1) * WIDTH)),
  ).flat();
}

/** Results are rounded to float16, and differences of operands before that. */
function requireNear(got: readonly number[], expected: readonly number[]): void {
  expect(got).toHaveLength(expected.length);
  const largest = Math.max(...expected.map(Math.abs));
  for (const [i, value] of got.entries()) {
    expect(Math.abs(value - (expected[i] ?? 0))).toBeLessThanOrEqual(largest * 2 ** -9);
  }
}

describe.each(PROGRAMS)('%s', (_, body, scale, meaning) => {
  const x = inputOf(scale);
  const expected = expectedOf(x, meaning);

  test('is wrong as written, and right behind the pass', () => {
    const run = (text: string): number[] => {
      const result = evaluateModule(parseModule(text), 'main', [x]);
      if (!(result instanceof HostTensor)) throw new Error('no tensor');
      expect(result.dtype).toBe('float16');
      return numbersOf(result);
    };
    const text = program(body);
    expect(() => requireNear(run(text), expected)).toThrow();
    requireNear(run(textAfter(['to-graph', 'widen-float16'], text)), expected);
  });

  test.each(['host', 'wasm', 'webgpu'] as const)('on %s', async (device) => {
    const executable = compile(parseModule(program(body))).toBytes();
    const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
    const session = await Session.load(executable, { worker: false, device, ...gpu });
    const { result } = await session.run({ x: new Tensor('float16', x.data, [ROWS, WIDTH]) });
    expect(result?.dtype).toBe('float16');
    await session.dispose();
    requireNear(numbersOf(result ?? { data: new Uint16Array() }), expected);
  });
});

const after = (body: string): string =>
  textAfter(['to-graph', 'widen-float16'], program(body)).replaceAll(/ {2,}|\n/g, ' ');

test.each([
  ['products of two values', 'mul(%x, relu(%x))'],
  ['sums element by element', 'add(%x, mul(%x, 3f16))'],
  ['the largest of rows', `sub(%x, reduce_max(%x, ${AXES}))`],
  ['operators that compute in float32 inside', 'layer_norm(softmax(%x, axis=1))'],
])('%s stay', (_, body) => {
  expect(after(body)).not.toContain('cast');
});

test('what has grown ends where it scales another value, and where it leaves', () => {
  expect(after('let %s = mul(%x, %x); (%s, mul(neg(%x), add(%s, 1f16)))')).toMatchInlineSnapshot(
    `"def @main(%x: Tensor[(4, 64), float16]) -> (Tensor[(4, 64), float16], Tensor[(4, 64), float16]) {  %0 = cast(%x, to="float32");  %1 = mul(%0, %0);  %2 = cast(%1, to="float16");  %3 = neg(%x);  %4 = cast(%3, to="float32");  %5 = cast(1f16, to="float32");  %6 = add(%1, %5);  %7 = mul(%4, %6);  %8 = cast(%7, to="float16");  (%2, %8) } "`,
  );
});

test('a conversion reads what was computed', () => {
  const text = after('cast(exp(%x), to="float32")');
  expect(text.match(/cast/g)).toHaveLength(1);
});

test.each(['host', 'wasm', 'webgpu'] as const)(
  'attention whose products are scaled behind, on %s',
  async (device) => {
    const shape = [1, 2, 8, 16];
    const module =
      parseModule(`def @main(%q: Tensor[(1, 2, 8, 16), float16], %k: Tensor[(1, 2, 8, 16), float16]) {
      let %s = mul(matmul(%q, transpose(%k, perm=[0, 1, 3, 2])), 0.0001f16);
      matmul(softmax(%s, axis=-1), %k)
    }`);
    const random = seededRandom(4);
    const draw = () =>
      Array.from({ length: 256 }, () => float16ToNumber(numberToFloat16(150 * random())));
    const [q, k] = [draw(), draw()];
    const scale = float16ToNumber(numberToFloat16(0.0001));
    const expected = Array.from({ length: 256 }, (_, i) => {
      const [row, column, head] = [Math.floor(i / 16), i % 16, Math.floor(i / 128)];
      const keys = Array.from({ length: 8 }, (__, key) => head * 8 + key);
      const weights = keys.map((key) =>
        Math.exp(
          scale *
            sum(
              Array.from(
                { length: 16 },
                (__, j) => (q[row * 16 + j] ?? 0) * (k[key * 16 + j] ?? 0),
              ),
            ),
        ),
      );
      return sum(
        keys.map((key, j) => ((weights[j] ?? 0) / sum(weights)) * (k[key * 16 + column] ?? 0)),
      );
    });
    const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
    const session = await Session.load(compile(module).toBytes(), {
      worker: false,
      device,
      ...gpu,
    });
    const half = (values: readonly number[]) =>
      new Tensor('float16', Uint16Array.from(values, numberToFloat16), shape);
    const { result } = await session.run({ q: half(q), k: half(k) });
    await session.dispose();
    requireNear(numbersOf(result ?? { data: new Uint16Array() }), expected);
  },
);
