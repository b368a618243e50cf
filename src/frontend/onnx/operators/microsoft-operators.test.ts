import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { importOnnx } from '../import-onnx.ts';
import {
  at,
  describeNodes,
  floats,
  type NodeInput,
  ints,
  type NodeRun,
} from '../testing/describe-nodes.ts';
import { expectClose, ofInts, range, sigmoid, sum, tensor } from '../testing/computed-values.ts';
import { plainAttention } from '../testing/plain-attention.ts';

const domain = 'com.microsoft';
describeNodes("ONNX Runtime's operators", (run) => {
  const random = seededRandom(19);
  const close = async (node: Omit<NodeRun, 'domain'>, ...expected: readonly HostTensor[]) => {
    const results = await run({ domain, ...node });
    for (const [i, wanted] of expected.entries()) expectClose(results[i], wanted);
  };

  test('FusedGemm', async () => {
    const [a, b, c] = [floats(random, 3, ['k', 4]), floats(random, 5, 4), floats(random, 5)];
    const attributes = { transB: 1, alpha: { float: 0.5 }, activation: 'LeakyRelu' };
    await close(
      {
        op: 'FusedGemm',
        inputs: [a, b, c],
        outputCount: 1,
        attributes: { ...attributes, activation_alpha: { float: 0.2 } },
      },
      tensor([3, 5], (i, j) => {
        const x = 0.5 * sum(4, (k) => at(a.tensor, i, k) * at(b.tensor, j, k)) + at(c.tensor, j);
        return x < 0 ? 0.2 * x : x;
      }),
    );
  });

  test('BiasSoftmax over the last two axes', async () => {
    const [x, bias] = [floats(random, 2, 3, 4), floats(random, 2, 1, 4)];
    const score = (b: number, i: number, j: number) =>
      Math.exp(at(x.tensor, b, i, j) + at(bias.tensor, b, 0, j));
    await close(
      {
        op: 'BiasSoftmax',
        inputs: [x, bias],
        outputCount: 1,
        attributes: { axis: 1, is_inner_broadcast: 1 },
      },
      tensor([2, 3, 4], (b, i, j) => score(b, i, j) / sum(3, (k) => sum(4, (l) => score(b, k, l)))),
    );
  });

  test.each([1, 0])('GroupNorm and SkipGroupNorm, channels_last %d', async (channelsLast) => {
    const [scale, shift, bias] = [floats(random, 6), floats(random, 6), floats(random, 6)];
    const shape = channelsLast === 1 ? ([2, 3, 2, 6] as const) : ([2, 6, 3, 2] as const);
    const x = floats(random, ...shape);
    const skip = floats(random, 2, 6);
    const place = (n: number, h: number, w: number, c: number) =>
      channelsLast === 1 ? [n, h, w, c] : [n, c, h, w];
    const norm = (
      valueAt: (n: number, h: number, w: number, c: number) => number,
      activate: boolean,
    ) => {
      const group = (n: number, c: number, of: (v: number) => number) => {
        const first = c - (c % 3);
        return sum(3, (i) => sum(3, (h) => sum(2, (w) => of(valueAt(n, h, w, first + i))))) / 18;
      };
      return tensor(shape, (...coords) => {
        const [n = 0, a = 0, b = 0, d = 0] = coords;
        const [h, w, c] = channelsLast === 1 ? [a, b, d] : [b, d, a];
        const mean = group(n, c, (v) => v);
        const variance = group(n, c, (v) => (v - mean) ** 2);
        const normal = (valueAt(n, h, w, c) - mean) / Math.sqrt(variance + 0.01);
        const y = normal * at(scale.tensor, c) + at(shift.tensor, c);
        return activate ? y * sigmoid(y) : y;
      });
    };
    const plain = (n: number, h: number, w: number, c: number) =>
      at(x.tensor, ...place(n, h, w, c));
    const added = (n: number, h: number, w: number, c: number) =>
      plain(n, h, w, c) + at(skip.tensor, n, c) + at(bias.tensor, c);
    const attributes = { groups: 2, epsilon: { float: 0.01 }, channels_last: channelsLast };
    await close(
      {
        op: 'GroupNorm',
        inputs: [x, scale, shift],
        outputCount: 1,
        attributes: { ...attributes, activation: 1 },
      },
      norm(plain, true),
    );
    const inputs = [x, scale, shift, skip, bias];
    await close(
      { op: 'SkipGroupNorm', inputs, outputCount: 2, attributes: { ...attributes, activation: 0 } },
      norm(added, false),
      tensor(shape, (...coords) => {
        const [n = 0, a = 0, b = 0, d = 0] = coords;
        return channelsLast === 1 ? added(n, a, b, d) : added(n, b, d, a);
      }),
    );
  });

  test('NhwcConv', async () => {
    const [x, w, b] = [floats(random, 1, 4, 5, 2), floats(random, 3, 3, 2, 2), floats(random, 3)];
    await close(
      { op: 'NhwcConv', inputs: [x, w, b], outputCount: 1, attributes: { pads: [1, 0, 1, 0] } },
      tensor([1, 4, 4, 3], (_, i, j, m) => {
        const window = sum(3, (p) =>
          i + p < 1 || i + p > 4
            ? 0
            : sum(2, (q) =>
                sum(2, (c) => at(x.tensor, 0, i + p - 1, j + q, c) * at(w.tensor, m, p, q, c)),
              ),
        );
        return window + at(b.tensor, m);
      }),
    );
  });

  test.each([
    ['sections', 0, [0, 0, 1, 2]],
    ['interleaved', 1, [0, 1, 2, 0]],
  ] as const)('MRotaryEmbedding, %s', async (_, layout, streams) => {
    const x = floats(random, 1, ['t', 3], 2 * 8);
    const ids = [0, 1, 2, 4, 3, 2, 1, 0, 4];
    const [cos, sin] = [floats(random, 5, 4), floats(random, 5, 4)];
    const angle = (table: NodeInput, t: number, pair: number) =>
      at(table.tensor, ids[(streams[pair] ?? 0) * 3 + t] ?? 0, pair);
    await close(
      {
        op: 'MRotaryEmbedding',
        inputs: [x, ints([3, 1, 3], ids, 'int64'), cos, sin],
        outputCount: 1,
        attributes: {
          num_heads: 2,
          mrope_layout: layout,
          mrope_section: layout === 0 ? [2, 1, 1] : [2, 1, 1],
        },
      },
      tensor([1, 3, 16], (__, t, d) => {
        const pair = d % 4;
        const first = d - (d % 8) + pair;
        const [re, im] = [at(x.tensor, 0, t, first), at(x.tensor, 0, t, first + 4)];
        const [c, s] = [angle(cos, t, pair), angle(sin, t, pair)];
        return d % 8 < 4 ? re * c - im * s : re * s + im * c;
      }),
    );
  });

  test.each([1, 0])('RelativePositionBias, is_bidirectional %d', async (isBidirectional) => {
    const table = floats(random, 8, 2);
    // Distances 0 and 1 have their own buckets, and 2 to 15 share the rest by logarithms, or 0 to 3 and 4 to 15.
    const oneWay = isBidirectional === 1 ? [0, 1, 2, 2, 2, 2, 3] : [0, 1, 2, 3, 4, 4, 5];
    await close(
      {
        op: 'RelativePositionBias',
        inputs: [table, ints([1], [7], 'int64'), ints([1], [7], 'int64')],
        outputCount: 1,
        attributes: { max_distance: 16, is_bidirectional: isBidirectional },
      },
      tensor([1, 2, 7, 7], (_, head, query, key) => {
        const far = isBidirectional === 1 ? Math.abs(key - query) : Math.max(query - key, 0);
        const base = isBidirectional === 1 && key > query ? 4 : 0;
        // The columns of the table lie one after the other.
        return Number(table.tensor.elements[head * 8 + base + (oneWay[far] ?? 0)]);
      }),
    );
  });

  test('GatedRelativePositionBias', async () => {
    const [query, queryBias] = [floats(random, 2, ['s', 3], 8), floats(random, 8)];
    const [positions, weight, bias] = [
      floats(random, 1, 2, 3, 3),
      floats(random, 4, 6),
      floats(random, 6),
    ];
    const scale = floats(random, 1, 2, 1, 1);
    await close(
      {
        op: 'GatedRelativePositionBias',
        inputs: [query, queryBias, positions, weight, bias, scale],
        outputCount: 1,
        attributes: { num_heads: 2 },
      },
      tensor([2, 2, 3, 3], (b, h, i, j) => {
        const gate = (half: number) =>
          sigmoid(
            sum(3, (d) => {
              const column = half * 3 + d;
              const product = sum(4, (k) => {
                const own = at(query.tensor, b, i, h * 4 + k) + at(queryBias.tensor, h * 4 + k);
                return own * at(weight.tensor, k, column);
              });
              return product + at(bias.tensor, column);
            }),
          );
        const factor = gate(0) * (gate(1) * at(scale.tensor, 0, h, 0, 0) - 1) + 2;
        return factor * at(positions.tensor, 0, h, i, j);
      }),
    );
  });

  test.each([
    ['FP4', 0, [2 / 3, -1 / 6]],
    ['NF4', 1, [-0.5250730514526367, 0.7229568362236023]],
  ] as const)('MatMulBnb4 of %s', async (_, type, [two, fourteen]) => {
    const x = floats(random, ['m', 2], 3);
    const scales = floats(random, 1);
    // Codes 2, 14, 2, 14, …: the first in the high bits.
    const codes = ofInts('uint8', [3], [0x2e, 0x2e, 0x2e]);
    const weight = (n: number, k: number) =>
      ((n * 3 + k) % 2 === 0 ? two : fourteen) * at(scales.tensor, 0);
    await close(
      {
        op: 'MatMulBnb4',
        inputs: [x, codes, scales],
        outputCount: 1,
        attributes: { K: 3, N: 2, block_size: 16, quant_type: type },
      },
      tensor([2, 2], (i, n) => sum(3, (k) => at(x.tensor, i, k) * weight(n, k))),
    );
  });

  test('QAttention', async () => {
    const bytes = range(2 * 3 * 4).map((i) => (i * 37) % 256);
    const weights = range(4 * 12).map((i) => ((i * 53) % 256) - 128);
    const [x, w] = [ofInts('uint8', [2, 3, 4], bytes), ofInts('int8', [4, 12], weights)];
    const bias = floats(random, 12);
    const zeros = range(12).map((i) => i - 6);
    const scale = 0.02;
    const projected = (b: number, t: number, column: number) =>
      sum(4, (k) => {
        const left = at(x.tensor, b, t, k) - 120;
        return left * (at(w.tensor, k, column) - (zeros[column] ?? 0)) * scale * 0.005;
      }) + at(bias.tensor, column);
    await close(
      {
        op: 'QAttention',
        inputs: [
          x,
          w,
          bias,
          { tensor: HostTensor.from('float32', [], [scale]), shape: [] },
          {
            tensor: HostTensor.from(
              'float32',
              [12],
              range(12).map(() => 0.005),
            ),
            shape: [12],
          },
          ints([2], [3, 2]),
          ofInts('uint8', [], [120]),
          ofInts('int8', [12], zeros),
        ],
        outputCount: 1,
        attributes: { num_heads: 2, unidirectional: 1 },
      },
      plainAttention({
        batch: 2,
        heads: 2,
        queries: 3,
        keys: 3,
        size: 2,
        valueSize: 2,
        q: (b, h, i, d) => projected(b, i, h * 2 + d),
        k: (b, h, j, d) => projected(b, j, 4 + h * 2 + d),
        v: (b, h, j, d) => projected(b, j, 8 + h * 2 + d),
        bias: (b, _, i, j) => (j > i ? -Infinity : j < (b === 0 ? 3 : 2) ? 0 : -10000),
      }),
    );
  });

  test('DynamicQuantizeLSTM is the LSTM of its weights as floats', async () => {
    const bytes = (shape: readonly number[]) => {
      const count = shape.reduce((a, b) => a * b, 1);
      return ofInts(
        'uint8',
        shape,
        range(count).map(() => Math.floor(random() * 256)),
      );
    };
    const [w, r] = [bytes([2, 3, 8]), bytes([2, 2, 8])];
    const [x, bias] = [floats(random, ['steps', 4], 2, 3), floats(random, 2, 16)];
    const params = { scale: [0.004, 0.006], zero: [120, 131] };
    const rows = ({ tensor: codes }: NodeInput, size: number): NodeInput => {
      const turned = tensor(
        [2, 8, size],
        (d, column, k) =>
          (at(codes, d, k, column) - (params.zero[d] ?? 0)) * (params.scale[d] ?? 0),
      );
      return { tensor: turned, shape: turned.shape };
    };
    const scale: NodeInput = { tensor: HostTensor.from('float32', [2], params.scale), shape: [2] };
    const zero = ofInts('uint8', [2], params.zero);
    const attributes = { hidden_size: 2, direction: 'bidirectional' };
    const expected = await run({
      op: 'LSTM',
      inputs: [x, rows(w, 3), rows(r, 2), bias],
      outputCount: 3,
      attributes,
    });
    await close(
      {
        op: 'DynamicQuantizeLSTM',
        inputs: [x, w, r, bias, ...range(4).map(() => undefined), scale, zero, scale, zero],
        outputCount: 3,
        attributes,
      },
      ...expected,
    );
  });

  describe('DecoderMaskedMultiHeadAttention', () => {
    const heads = { batch: 2, heads: 2, queries: 1, size: 3, valueSize: 3 };
    const [query, key, value] = [0, 1, 2].map(() => floats(random, ['b', 2], 1, 6));
    const [pastKey, pastValue] = [0, 1].map(() => floats(random, ['b', 2], 2, 4, 3));
    const projections = floats(random, 18);
    const mask = [1, 1, 1, 0, 1, 1];
    const past = 2;

    const all =
      (own: NodeInput | undefined, cache: NodeInput | undefined, part: number) =>
      (b: number, h: number, j: number, d: number): number => {
        if (own === undefined || cache === undefined) return 0;
        if (j < past) return at(cache.tensor, b, h, j, d);
        return at(own.tensor, b, 0, h * 3 + d) + at(projections.tensor, part * 6 + h * 3 + d);
      };

    test('with a cache that is longer than what is in it', async () => {
      const k = all(key, pastKey, 1);
      const v = all(value, pastValue, 2);
      await close(
        {
          op: 'DecoderMaskedMultiHeadAttention',
          inputs: [
            query,
            key,
            value,
            ints([2, 3], mask),
            undefined,
            pastKey,
            pastValue,
            ints([1], [past]),
            ints([1], [1]),
            undefined,
            projections,
          ],
          outputCount: 3,
          attributes: { num_heads: 2, past_present_share_buffer: 1 },
        },
        plainAttention({
          ...heads,
          keys: past + 1,
          q: (b, h, _, d) =>
            at((query ?? projections).tensor, b, 0, h * 3 + d) + at(projections.tensor, h * 3 + d),
          k,
          v,
          bias: (b, _, __, j) => (mask[b * 3 + j] === 1 ? 0 : -10000),
        }),
        tensor([2, 2, 4, 3], (b, h, j, d) =>
          j === past ? k(b, h, j, d) : at((pastKey ?? projections).tensor, b, h, j, d),
        ),
      );
    });

    test('to keys of an encoder', async () => {
      await close(
        {
          op: 'DecoderMaskedMultiHeadAttention',
          inputs: [query, pastKey, pastValue],
          outputCount: 1,
          attributes: { num_heads: 2, scale: { float: 0.3 } },
        },
        plainAttention({
          ...heads,
          keys: 4,
          scale: 0.3,
          q: (b, h, _, d) => at((query ?? projections).tensor, b, 0, h * 3 + d),
          k: (b, h, j, d) => at((pastKey ?? projections).tensor, b, h, j, d),
          v: (b, h, j, d) => at((pastValue ?? projections).tensor, b, h, j, d),
          bias: () => 0,
        }),
      );
    });
  });

  test.each(['silu', 'sigmoid'])('GatedRMSNorm with %s', async (activation) => {
    const [x, scale, gate] = [
      floats(random, 2, ['t', 3], 8),
      floats(random, 4),
      floats(random, 2, ['t', 3], 8),
    ];
    await close(
      {
        op: 'GatedRMSNorm',
        inputs: [x, scale, gate],
        outputCount: 1,
        attributes: { activation, epsilon: { float: 0.01 } },
      },
      tensor([2, 3, 8], (b, t, d) => {
        const first = d - (d % 4);
        const mean = sum(4, (i) => at(x.tensor, b, t, first + i) ** 2) / 4;
        const z = at(gate.tensor, b, t, d);
        const factor = activation === 'silu' ? z * sigmoid(z) : sigmoid(z);
        return (at(x.tensor, b, t, d) / Math.sqrt(mean + 0.01)) * at(scale.tensor, d % 4) * factor;
      }),
    );
  });
});

describe("ONNX Runtime's operators that are refused", () => {
  const x = { name: 'x', shape: [2, 3, 4] };
  test.each<
    [
      op: string,
      inputs: string[],
      attributes: Record<string, number | string | number[]>,
      message: string,
    ]
  >([
    ['FusedGemm', ['m', 'm'], { activation: 'Elu' }, 'got activation Elu, expected Relu, Tanh,'],
    ['GroupNorm', ['x', 'v', 'v'], { activation: 0 }, 'got groups 0, expected 1 or more'],
    [
      'GroupNorm',
      ['x', 'v', 'v'],
      { groups: 2, activation: 3 },
      'got activation 3, expected 0 for none or 1 for SiLU',
    ],
    [
      'GatedRMSNorm',
      ['x', 'v', 'x'],
      { activation: 'relu' },
      'got activation relu, expected silu, swish or sigmoid',
    ],
    [
      'MRotaryEmbedding',
      ['x', 'ids', 'm', 'm'],
      { mrope_section: [1, 1] },
      'got mrope_section 1, 1, expected three sizes from 0 up',
    ],
    [
      'MRotaryEmbedding',
      ['x', 'ids', 'm', 'm'],
      { mrope_section: [1, 1, 1] },
      'got sections of 3 pairs, expected 4, as the caches have',
    ],
    [
      'MatMulBnb4',
      ['x', 'v', 'v'],
      { K: 4, N: 1, block_size: 16 },
      'got quant_type -1, expected 0 for FP4 or 1 for NF4',
    ],
    [
      'RelativePositionBias',
      ['m', 'one', 'one'],
      { max_distance: 0 },
      'got 4 buckets for distances up to 0',
    ],
    [
      'DecoderMaskedMultiHeadAttention',
      ['x', 'x'],
      { num_heads: 2 },
      'got keys without values, or values without keys, expected both or neither',
    ],
  ])('%s %#', (op, inputs, attributes, message) => {
    const model = writeOnnxModel({
      opsets: { 'com.microsoft': 1 },
      inputs: [
        x,
        { name: 'm', shape: [4, 4] },
        { name: 'v', shape: [4] },
        { name: 'ids', dtype: 'int64', shape: [3, 2, 3] },
      ],
      initializers: { one: HostTensor.from('int64', [1], [1]) },
      nodes: [{ op, domain, inputs, outputs: ['y'], attributes }],
      outputs: ['y'],
    });
    expect(() => importOnnx(model)).toThrow(`node "y" (com.microsoft.${op}): ${message}`);
  });
});

describeNodes('linear attention by gates', (run) => {
  const random = seededRandom(31);

  test('LinearAttentionGate', async () => {
    const [a, b] = [floats(random, 2, ['t', 3], 4), floats(random, 2, ['t', 3], 4)];
    const [shift, scale] = [floats(random, 4), floats(random, 4)];
    const [decay, beta] = await run({
      op: 'LinearAttentionGate',
      domain,
      inputs: [a, shift, scale, b],
      outputCount: 2,
    });
    const shape = [2, 3, 4];
    expectClose(
      decay,
      tensor(shape, (i, t, h) => {
        const x = at(a.tensor, i, t, h) + at(shift.tensor, h);
        return at(scale.tensor, h) * Math.log1p(Math.exp(x));
      }),
    );
    expectClose(
      beta,
      tensor(shape, (i, t, h) => sigmoid(at(b.tensor, i, t, h))),
    );
  });

  test('GatedAdd', async () => {
    const [x, y, gate] = [floats(random, 2, 3), floats(random, 2, 3), floats(random, 2, 1)];
    const [sumOfBoth] = await run({ op: 'GatedAdd', domain, inputs: [x, y, gate], outputCount: 1 });
    expectClose(
      sumOfBoth,
      tensor([2, 3], (i, j) => at(x.tensor, i, j) + at(y.tensor, i, j) * at(gate.tensor, i, 0)),
    );
  });

  test('GatedDeltaNet of raw projections, with heads that share keys', async () => {
    const [batch, positions, keyHeads, heads, keySize, valueSize] = [2, 3, 2, 4, 3, 5];
    const tokens = batch * positions;
    const [q, k] = [0, 1].map(() => floats(random, tokens, keyHeads, keySize));
    const [v, decay, beta] = [
      floats(random, tokens, heads, valueSize),
      floats(random, tokens, heads),
      floats(random, tokens, heads),
    ];
    const initial = floats(random, batch, heads, valueSize, keySize);
    const [log, shift] = [floats(random, heads), floats(random, heads)];
    if (q === undefined || k === undefined) throw new Error('no operands');
    const unit = ({ tensor: x }: NodeInput, t: number, h: number, d: number) =>
      at(x, t, h, d) / Math.sqrt(sum(keySize, (i) => at(x, t, h, i) ** 2) + 1e-6);
    const outputs: number[][][] = [];
    const last = range(batch).map((b) =>
      range(heads).map((h) => {
        const shared = Math.floor(h / (heads / keyHeads));
        let state = range(keySize).map((i) =>
          range(valueSize).map((j) => at(initial.tensor, b, h, j, i)),
        );
        for (const p of range(positions)) {
          const t = b * positions + p;
          const rate = sigmoid(at(beta.tensor, t, h));
          const grown = Math.log1p(Math.exp(at(decay.tensor, t, h) + at(shift.tensor, h)));
          const kept = Math.exp(-Math.exp(at(log.tensor, h)) * grown);
          const held = state.map((row) => row.map((value) => value * kept));
          const delta = range(valueSize).map((j) => {
            const known = sum(keySize, (i) => (held[i]?.[j] ?? 0) * unit(k, t, shared, i));
            return rate * (at(v.tensor, t, h, j) - known);
          });
          state = held.map((row, i) =>
            row.map((value, j) => value + unit(k, t, shared, i) * (delta[j] ?? 0)),
          );
          const now = state;
          (outputs[t] ??= [])[h] = range(valueSize).map(
            (j) =>
              sum(keySize, (i) => (now[i]?.[j] ?? 0) * unit(q, t, shared, i)) / Math.sqrt(keySize),
          );
        }
        return state;
      }),
    );
    const [y, state] = await run({
      op: 'GatedDeltaNet',
      domain,
      inputs: [q, k, v, undefined, decay, beta, initial, log, shift],
      outputCount: 2,
      attributes: { gate_activation: 'qwen', beta_activation: 'sigmoid', qk_l2_norm: 1 },
    });
    expectClose(
      y,
      tensor([tokens, heads, valueSize], (t, h, j) => outputs[t]?.[h]?.[j] ?? NaN),
    );
    expectClose(
      state,
      tensor([batch, heads, valueSize, keySize], (b, h, j, i) => last[b]?.[h]?.[i]?.[j] ?? NaN),
    );
  });
});
