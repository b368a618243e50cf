import { describe, expect, test } from 'vitest';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { Session, Tensor } from '../../client/index.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { compile } from '../compile.ts';
import { evaluateModule } from '../evaluation/evaluate-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import {
  AXES,
  expectedOf,
  inputOf,
  numbersOf,
  program,
  PROGRAMS,
  relativeError,
  ROWS,
  sum,
  TOLERANCE,
  WIDTH,
} from '../testing/float16-programs.ts';
import { textAfter } from '../testing/text-after.ts';

function requireNear(got: readonly number[], expected: readonly number[]): void {
  expect(got).toHaveLength(expected.length);
  expect(relativeError(got, expected)).toBeLessThanOrEqual(TOLERANCE);
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
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
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
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
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
