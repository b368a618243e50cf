import { expect, test } from 'vitest';
import { firstDifference } from '../../../../core/tensor/all-close.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../../core/random.ts';
import { writeOnnxModel } from '../../../../testing/onnx-writer.ts';
import { compileOnnx } from '../../../index.ts';
import { importOnnx } from '../../import-onnx.ts';
import { expectClose, ofInts, range, sigmoid, sum, tensor } from '../../testing/computed-values.ts';
import { at, describeNodes, floats, type NodeInput } from '../../testing/describe-nodes.ts';

const domain = 'com.microsoft';

describeNodes('experts', (run) => {
  const random = seededRandom(23);
  const [experts, width, hidden] = [4, 8, 6];
  const [w1, w2, w3] = [
    floats(random, experts, 2 * hidden, width),
    floats(random, experts, width, hidden),
    floats(random, experts, hidden, width),
  ];
  const [b1, b2] = [floats(random, experts, 2 * hidden), floats(random, experts, width)];

  /** The sum over the two best experts, by the shares that softmax gives all. */
  function mix(
    x: NodeInput,
    logits: NodeInput,
    expert: (e: number, input: (k: number) => number, out: number) => number,
    normalizes = false,
  ): HostTensor {
    const tokens = x.tensor.shape[0] ?? 0;
    return tensor([tokens, width], (t, out) => {
      const exps = range(experts).map((e) => Math.exp(at(logits.tensor, t, e)));
      const best = range(experts)
        .sort((a, b) => (exps[b] ?? 0) - (exps[a] ?? 0))
        .slice(0, 2);
      const whole = normalizes
        ? sum(2, (i) => exps[best[i] ?? 0] ?? 0)
        : sum(4, (e) => exps[e] ?? 0);
      return sum(2, (i) => {
        const e = best[i] ?? 0;
        return ((exps[e] ?? 0) / whole) * expert(e, (k) => at(x.tensor, t, k), out);
      });
    });
  }

  // One token reads its experts alone, five are computed by all; the same program does both where sizes are symbols.
  test.each([1, 5])('MoE with interleaved SwiGLU, %d tokens', async (tokens) => {
    const [x, logits] = [
      floats(random, ['t', tokens], width),
      floats(random, ['t', tokens], experts),
    ];
    const [y] = await run({
      op: 'MoE',
      domain,
      inputs: [x, logits, w1, b1, w2, b2],
      outputCount: 1,
      attributes: {
        k: 2,
        activation_type: 'swiglu',
        swiglu_fusion: 1,
        swiglu_limit: { float: 0.6 },
        activation_alpha: { float: 1.5 },
        activation_beta: { float: 1 },
      },
    });
    const first = (e: number, input: (k: number) => number, row: number) =>
      sum(width, (k) => at(w1.tensor, e, row, k) * input(k)) + at(b1.tensor, e, row);
    expectClose(
      y,
      mix(x, logits, (e, input, out) => {
        const inner = (j: number) => {
          const g = Math.min(first(e, input, 2 * j), 0.6);
          const l = Math.min(Math.max(first(e, input, 2 * j + 1), -0.6), 0.6);
          return g * sigmoid(1.5 * g) * (l + 1);
        };
        return sum(hidden, (j) => at(w2.tensor, e, out, j) * inner(j)) + at(b2.tensor, e, out);
      }),
    );
  });

  test('MoE with a third layer and shares that sum to 1', async () => {
    const [x, logits] = [floats(random, 3, width), floats(random, 3, experts)];
    const [y] = await run({
      op: 'MoE',
      domain,
      inputs: [x, logits, w3, undefined, w2, undefined, w3],
      outputCount: 1,
      attributes: { k: 2, activation_type: 'silu', normalize_routing_weights: 1 },
    });
    const third = (e: number, input: (k: number) => number, j: number) =>
      sum(width, (k) => at(w3.tensor, e, j, k) * input(k));
    expectClose(
      y,
      mix(
        x,
        logits,
        (e, input, out) =>
          sum(hidden, (j) => {
            const z = third(e, input, j);
            return at(w2.tensor, e, out, j) * z * sigmoid(z) * z;
          }),
        true,
      ),
    );
  });

  test.each([1, 4])('QMoE of 4 bits in blocks with zero points, %d tokens', async (tokens) => {
    const [q, inner] = [32, 32];
    const bytesOf = (count: number) => range(count).map(() => Math.floor(random() * 256));
    const c1 = ofInts('uint8', [experts, inner, q / 2], bytesOf(experts * inner * (q / 2)));
    const c2 = ofInts('uint8', [experts, q, inner / 2], bytesOf(experts * q * (inner / 2)));
    const [s1, s2] = [floats(random, experts, inner, 2), floats(random, experts, q, 2)];
    const z1 = ofInts('uint8', [experts, inner, 1], bytesOf(experts * inner));
    const [x, logits] = [floats(random, tokens, q), floats(random, tokens, experts)];
    const code = ({ tensor: codes }: NodeInput, e: number, row: number, k: number) =>
      (at(codes, e, row, Math.floor(k / 2)) >> (4 * (k % 2))) & 15;
    const first = (e: number, row: number, k: number) => {
      const block = Math.floor(k / 16);
      const zero = (at(z1.tensor, e, row, 0) >> (4 * block)) & 15;
      return (code(c1, e, row, k) - zero) * at(s1.tensor, e, row, block);
    };
    const second = (e: number, row: number, k: number) =>
      (code(c2, e, row, k) - 8) * at(s2.tensor, e, row, Math.floor(k / 16));
    const [y] = await run({
      op: 'QMoE',
      domain,
      inputs: [x, logits, c1, s1, undefined, c2, s2, ...range(4).map(() => undefined), z1],
      outputCount: 1,
      attributes: { k: 1, activation_type: 'relu', expert_weight_bits: 4, block_size: 16 },
    });
    const expected = tensor([tokens, q], (t, out) => {
      const exps = range(experts).map((e) => Math.exp(at(logits.tensor, t, e)));
      const e = exps.indexOf(Math.max(...exps));
      const share = (exps[e] ?? 0) / sum(experts, (i) => exps[i] ?? 0);
      const hiddenAt = (j: number) =>
        Math.max(
          0,
          sum(q, (k) => first(e, j, k) * at(x.tensor, t, k)),
        );
      return share * sum(inner, (j) => second(e, out, j) * hiddenAt(j));
    });
    const top = Math.max(...range(tokens * q).map((i) => Math.abs(Number(expected.elements[i]))));
    expect(y && firstDifference(y, expected, { rtol: 1e-4, atol: 1e-5 * top })).toBeUndefined();
    expect(y).toBeDefined();
  });

  test.each([
    { bits: 4, q: 96, inner: 64, blocks: 1, zeros: 'of rows' },
    { bits: 4, q: 64, inner: 1056, blocks: 1, zeros: 'of rows' },
    { bits: 8, q: 40, inner: 24, blocks: 1, zeros: 'none' },
    { bits: 2, q: 64, inner: 96, blocks: 2, zeros: 'none' },
    { bits: 8, q: 64, inner: 32, blocks: 2, zeros: 'in rows' },
    { bits: 4, q: 1152, inner: 32, blocks: 2, zeros: 'in rows' },
  ] as const)(
    'QMoE of $bits bits, $q by $inner in $blocks blocks, zero points $zeros',
    async (format) => {
      const { bits, q, inner, blocks, zeros } = format;
      const each = 8 / bits;
      const bytesOf = (...shape: readonly number[]): NodeInput => {
        const count = shape.reduce((product, size) => product * size, 1);
        return ofInts(
          'uint8',
          shape,
          range(count).map(() => Math.floor(random() * 256)),
        );
      };
      const layer = (outputs: number, inputs: number) => {
        // Blocks of the second layer are those of the whole row.
        const count = inputs === q ? blocks : 1;
        const codes = bytesOf(experts, outputs, inputs / each);
        const scales = floats(random, experts, outputs, ...(count === 1 ? [] : [count]));
        const zeroPoints =
          zeros === 'none'
            ? undefined
            : count === 1
              ? bytesOf(experts, outputs / each)
              : bytesOf(experts, outputs, Math.ceil(count / each));
        const part = (tensor: HostTensor, i: number, ...place: readonly number[]): number =>
          (at(tensor, ...place, Math.floor(i / each)) >> (bits * (i % each))) & (2 ** bits - 1);
        const element = (e: number, row: number, k: number): number => {
          const block = Math.floor((k * count) / inputs);
          const zero =
            zeroPoints === undefined
              ? 2 ** (bits - 1)
              : count === 1
                ? part(zeroPoints.tensor, row, e)
                : part(zeroPoints.tensor, block, e, row);
          const scale = count === 1 ? at(scales.tensor, e, row) : at(scales.tensor, e, row, block);
          return (part(codes.tensor, k, e, row) - zero) * scale;
        };
        return { codes, scales, zeroPoints, element };
      };
      const [first, second] = [layer(inner, q), layer(q, inner)];
      const products = new Map<string, number>();
      const [x, logits] = [floats(random, ['t', 3], q), floats(random, ['t', 3], experts)];
      const [y] = await run({
        op: 'QMoE',
        domain,
        inputs: [
          x,
          logits,
          first.codes,
          first.scales,
          undefined,
          second.codes,
          second.scales,
          ...range(4).map(() => undefined),
          ...(first.zeroPoints ? [first.zeroPoints, second.zeroPoints] : []),
        ],
        outputCount: 1,
        attributes: {
          k: 2,
          activation_type: 'identity',
          expert_weight_bits: bits,
          normalize_routing_weights: 1,
        },
      });
      const expected = tensor([3, q], (t, out) => {
        const exps = range(experts).map((e) => Math.exp(at(logits.tensor, t, e)));
        const best = range(experts)
          .sort((a, b) => (exps[b] ?? 0) - (exps[a] ?? 0))
          .slice(0, 2);
        const whole = sum(2, (i) => exps[best[i] ?? 0] ?? 0);
        return sum(2, (i) => {
          const e = best[i] ?? 0;
          const share = (exps[e] ?? 0) / whole;
          return share * sum(inner, (j) => second.element(e, out, j) * hiddenOf(t, e, j));
        });
      });
      const top = Math.max(...range(3 * q).map((i) => Math.abs(Number(expected.elements[i]))));
      expect(y && firstDifference(y, expected, { rtol: 1e-4, atol: 1e-5 * top })).toBeUndefined();
      expect(y).toBeDefined();

      function hiddenOf(t: number, e: number, j: number): number {
        const key = `${t} ${e} ${j}`;
        const known = products.get(key);
        if (known !== undefined) return known;
        const value = sum(q, (k) => first.element(e, j, k) * at(x.tensor, t, k));
        products.set(key, value);
        return value;
      }
    },
  );
});

test('experts of QMoE stay codes, however many tokens there are', () => {
  const [experts, q, inner] = [32, 128, 256];
  const bytes = (...shape: readonly number[]) => HostTensor.zeros('uint8', shape);
  const scales = (...shape: readonly number[]) => HostTensor.zeros('float32', shape);
  const model = writeOnnxModel({
    opset: 17,
    opsets: { [domain]: 1 },
    inputs: [
      { name: 'x', shape: ['t', q] },
      { name: 'logits', shape: ['t', experts] },
    ],
    nodes: [
      {
        op: 'QMoE',
        domain,
        inputs: ['x', 'logits', 'c1', 's1', '', 'c2', 's2'],
        outputs: ['y'],
        attributes: { k: 2, activation_type: 'relu', expert_weight_bits: 4, block_size: 32 },
      },
    ],
    initializers: {
      c1: bytes(experts, inner, q / 2),
      s1: scales(experts, inner, q / 32),
      c2: bytes(experts, q, inner / 2),
      s2: scales(experts, q, inner / 32),
    },
    outputs: ['y'],
  });
  // Codes of two layers, and scales.
  const coded = experts * q * inner * (1 + (2 * 4) / 32);
  expect(compileOnnx(model).toBytes().byteLength).toBeLessThan(1.05 * coded);
});

test('blocks that kernels do not have are refused', () => {
  const model = writeOnnxModel({
    opset: 17,
    opsets: { [domain]: 1 },
    inputs: [
      { name: 'x', shape: [1, 16] },
      { name: 'logits', shape: [1, 2] },
      { name: 'c', shape: [2, 16, 16], dtype: 'uint8' },
      { name: 's', shape: [2, 16, 2] },
    ],
    nodes: [
      {
        op: 'QMoE',
        domain,
        inputs: ['x', 'logits', 'c', 's', '', 'c', 's'],
        outputs: ['y'],
        attributes: { expert_weight_bits: 8 },
      },
    ],
    outputs: ['y'],
  });
  expect(() => importOnnx(model)).toThrow('got blocks of 8, expected blocks of a multiple of 16');
});
