import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { firstDifference } from '../../../../core/tensor/all-close.ts';
import { seededRandom } from '../../../../core/random.ts';
import { type Plain, plainAttention } from '../../testing/plain-attention.ts';
import {
  at,
  describeNodes,
  floats as floatsFrom,
  type NodeInput,
  ints,
  type NodeRun,
} from '../../testing/describe-nodes.ts';

const random = seededRandom(7);
const floats = (...dims: readonly (number | readonly [string, number])[]) =>
  floatsFrom(random, ...dims);

const CLOSE = { rtol: 1e-4, atol: 1e-5 };

describeNodes('com.microsoft', (runNode) => {
  const run = (spec: Omit<NodeRun, 'domain'>) => runNode({ ...spec, domain: 'com.microsoft' });

  const close = (actual: HostTensor | undefined, expected: HostTensor): void => {
    expect(actual && firstDifference(actual, expected, CLOSE)).toBeUndefined();
    expect(actual).toBeDefined();
  };

  describe('MultiHeadAttention', () => {
    const [batch, heads, queries, size, valueSize] = [2, 3, 4, 4, 5];
    const sizes = { batch, heads, queries, size, valueSize };

    test('biases, a past, a mask of 0 and 1, a bias of scores, unidirectional', async () => {
      const past = 2;
      const keys = past + queries;
      const [q, k] = [0, 1].map(() => floats(['b', batch], ['s', queries], heads * size));
      const v = floats(['b', batch], ['s', queries], heads * valueSize);
      const bias = floats(2 * heads * size + heads * valueSize);
      const mask = ints([batch, keys], [1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1]);
      const added = floats(1, heads, ['s', queries], ['t', keys]);
      const pastKey = floats(['b', batch], heads, ['p', past], size);
      const pastValue = floats(['b', batch], heads, ['p', past], valueSize);
      if (q === undefined || k === undefined) throw new Error('no operands');
      const [y, presentKey, presentValue] = await run({
        op: 'MultiHeadAttention',
        inputs: [q, k, v, bias, mask, added, pastKey, pastValue],
        outputCount: 3,
        attributes: { num_heads: heads, unidirectional: 1, scale: { float: 0.4 } },
      });
      const kAt: Plain['k'] = (b, h, j, d) =>
        j < past
          ? at(pastKey.tensor, b, h, j, d)
          : at(k.tensor, b, j - past, h * size + d) + at(bias.tensor, heads * size + h * size + d);
      const vAt: Plain['v'] = (b, h, j, d) =>
        j < past
          ? at(pastValue.tensor, b, h, j, d)
          : at(v.tensor, b, j - past, h * valueSize + d) +
            at(bias.tensor, 2 * heads * size + h * valueSize + d);
      close(
        y,
        plainAttention({
          ...sizes,
          keys,
          scale: 0.4,
          q: (b, h, i, d) => at(q.tensor, b, i, h * size + d) + at(bias.tensor, h * size + d),
          k: kAt,
          v: vAt,
          bias: (b, h, i, j) =>
            (j > past + i || at(mask.tensor, b, j) === 0 ? -10000 : 0) +
            at(added.tensor, 0, h, i, j),
        }),
      );
      expect(presentKey?.shape).toEqual([batch, heads, keys, size]);
      expect(presentValue && at(presentValue, 1, 2, 3, 4)).toBeCloseTo(vAt(1, 2, 3, 4), 5);
      expect(presentKey && at(presentKey, 1, 2, 1, 3)).toBeCloseTo(kAt(1, 2, 1, 3), 5);
    });

    test('a past counts whether or not the present is wanted', async () => {
      const rows = () => floats(batch, queries, heads * size);
      const past = () => floats(batch, heads, 2, size);
      const node = {
        op: 'MultiHeadAttention',
        inputs: [rows(), rows(), rows(), undefined, undefined, undefined, past(), past()],
        attributes: { num_heads: heads },
      };
      const [alone] = await run({ ...node, outputCount: 1 });
      const [beside] = await run({ ...node, outputCount: 3 });
      expect(alone?.data).toEqual(beside?.data);
      const [without] = await run({ ...node, inputs: node.inputs.slice(0, 3), outputCount: 1 });
      expect(alone?.data).not.toEqual(without?.data);
    });

    test('queries, keys and values stacked in one', async () => {
      const stacked = floats(['b', batch], ['s', queries], heads, 3, size);
      const part =
        (p: number): Plain['q'] =>
        (b, h, i, d) =>
          at(stacked.tensor, b, i, h, p, d);
      const [y] = await run({
        op: 'MultiHeadAttention',
        inputs: [stacked],
        outputCount: 1,
        attributes: { num_heads: heads },
      });
      close(
        y,
        plainAttention({
          ...sizes,
          valueSize: size,
          keys: queries,
          q: part(0),
          k: part(1),
          v: part(2),
          bias: () => 0,
        }),
      );
    });

    test.each(['stacked', 'apart'])(
      'keys and values of another length, %s, with lengths',
      async (form) => {
        const keys = 6;
        const q = floats(batch, ['s', queries], heads * size);
        const bias = floats(3 * heads * size);
        const isStacked = form === 'stacked';
        const stacked = floats(batch, ['t', keys], heads, 2, size);
        const [k, v] = [0, 1].map(() => floats(batch, heads, ['t', keys], size));
        if (k === undefined || v === undefined) throw new Error('no operands');
        const lengths = ints([batch], [4, 6]);
        const own = (p: number, h: number, d: number): number =>
          isStacked ? at(bias.tensor, p * heads * size + h * size + d) : 0;
        const [y] = await run({
          op: 'MultiHeadAttention',
          inputs: isStacked ? [q, stacked, undefined, bias, lengths] : [q, k, v, bias, lengths],
          outputCount: 1,
          attributes: { num_heads: heads },
        });
        close(
          y,
          plainAttention({
            ...sizes,
            valueSize: size,
            keys,
            q: (b, h, i, d) => at(q.tensor, b, i, h * size + d) + at(bias.tensor, h * size + d),
            k: (b, h, j, d) =>
              (isStacked ? at(stacked.tensor, b, j, h, 0, d) : at(k.tensor, b, h, j, d)) +
              own(1, h, d),
            v: (b, h, j, d) =>
              (isStacked ? at(stacked.tensor, b, j, h, 1, d) : at(v.tensor, b, h, j, d)) +
              own(2, h, d),
            bias: (b, _h, _i, j) => (j < at(lengths.tensor, b) ? 0 : -10000),
          }),
        );
      },
    );
  });

  describe('Attention', () => {
    const [batch, heads, queries, past, input] = [2, 2, 3, 2, 5];
    const keys = past + queries;
    const raw = [1, 0, 1, 1, 1, 1, 1, 1, 0, 1];
    const perQuery = Array.from({ length: batch * queries * keys }, (_, i) =>
      i % 4 === 0 ? 0 : 1,
    );
    const square = Array.from({ length: batch * 7 * 7 }, (_, i) => (i % 3 === 0 ? 0 : 1));
    const masks = [
      ['ends', ints([batch], [2, 5]), (b: number, _i: number, j: number) => j < (b === 0 ? 2 : 5)],
      [
        'ends and begins',
        ints([2 * batch], [4, 5, 1, 2]),
        (b: number, _i: number, j: number) => j < 4 + b && j > b,
      ],
      [
        '0 and 1',
        ints([batch, keys], raw),
        (b: number, _i: number, j: number) => raw[b * keys + j] === 1,
      ],
      [
        'for each query',
        ints([batch, queries, keys], perQuery),
        (b: number, i: number, j: number) => perQuery[(b * queries + i) * keys + j] === 1,
      ],
      [
        'for all positions',
        ints([batch, 1, 7, 7], square),
        (b: number, i: number, j: number) => square[(b * 7 + past + i) * 7 + j] === 1,
      ],
    ] as const;

    test.each(masks)('a mask of %s, a past, unidirectional', async (_, mask, isSeen) => {
      const size = 4;
      const width = heads * size;
      const x = floats(['b', batch], ['s', queries], input);
      const [weights, bias] = [floats(input, 3 * width), floats(3 * width)];
      const pasts = floats(2, ['b', batch], heads, past, size);
      const added = floats(batch, 1, queries, keys);
      const projected = (part: number) => (b: number, h: number, i: number, d: number) => {
        const column = part * width + h * size + d;
        let sum = at(bias.tensor, column);
        for (let c = 0; c < input; c++) {
          sum += at(x.tensor, b, i, c) * at(weights.tensor, c, column);
        }
        return sum;
      };
      const extended = (part: number) => (b: number, h: number, j: number, d: number) =>
        j < past ? at(pasts.tensor, part - 1, b, h, j, d) : projected(part)(b, h, j - past, d);
      const [y, present] = await run({
        op: 'Attention',
        inputs: [x, weights, bias, mask, pasts, added],
        outputCount: 2,
        attributes: { num_heads: heads, unidirectional: 1, mask_filter_value: { float: -50 } },
      });
      close(
        y,
        plainAttention({
          batch,
          heads,
          queries,
          keys,
          size,
          valueSize: size,
          q: projected(0),
          k: extended(1),
          v: extended(2),
          bias: (b, _h, i, j) => {
            if (j > past + i) return -Infinity;
            return (isSeen(b, i, j) ? 0 : -50) + at(added.tensor, b, 0, i, j);
          },
        }),
      );
      expect(present?.shape).toEqual([2, batch, heads, keys, size]);
      expect(present && at(present, 1, 1, 0, past + 1, 2)).toBeCloseTo(
        extended(2)(1, 0, past + 1, 2),
        5,
      );
      expect(present && at(present, 0, 1, 0, 1, 2)).toBeCloseTo(extended(1)(1, 0, 1, 2), 5);
    });

    test('sizes of values of their own', async () => {
      const [size, valueSize] = [2, 3];
      const x = floats(batch, ['s', queries], input);
      const weights = floats(input, heads * (2 * size + valueSize));
      const column =
        (start: number, h: number, width: number) => (b: number, i: number, d: number) => {
          let sum = 0;
          for (let c = 0; c < input; c++) {
            sum += at(x.tensor, b, i, c) * at(weights.tensor, c, start + h * width + d);
          }
          return sum;
        };
      const [y] = await run({
        op: 'Attention',
        inputs: [x, weights],
        outputCount: 1,
        attributes: {
          num_heads: heads,
          qkv_hidden_sizes: [heads * size, heads * size, heads * valueSize],
        },
      });
      close(
        y,
        plainAttention({
          batch,
          heads,
          queries,
          keys: queries,
          size,
          valueSize,
          q: (b, h, i, d) => column(0, h, size)(b, i, d),
          k: (b, h, i, d) => column(heads * size, h, size)(b, i, d),
          v: (b, h, i, d) => column(2 * heads * size, h, valueSize)(b, i, d),
          bias: () => 0,
        }),
      );
    });
  });

  describe('RotaryEmbedding', () => {
    const [batch, positions, heads, size, most] = [2, 3, 2, 6, 9];

    test.each([
      { isInterleaved: false, rotated: 0, first: undefined },
      { isInterleaved: true, rotated: 0, first: 4 },
      { isInterleaved: false, rotated: 4, first: 2 },
      { isInterleaved: true, rotated: 4, first: undefined },
      { isInterleaved: false, rotated: 0, first: 5, isScalar: true },
    ])('%o', async ({ isInterleaved, rotated, first, isScalar }) => {
      const x = floats(['b', batch], ['s', positions], heads * size);
      const turning = rotated === 0 ? size : rotated;
      const half = turning / 2;
      const [cos, sin] = [floats(most, half), floats(most, half)];
      const ids = [3, 1, 8, 0, 2, 2];
      const [y] = await run({
        op: 'RotaryEmbedding',
        inputs: [
          x,
          first === undefined
            ? { ...ints([batch, positions], ids, 'int64'), shape: ['b', 's'] }
            : ints(isScalar === true ? [] : [1], [first], 'int64'),
          cos,
          sin,
        ],
        outputCount: 1,
        attributes: {
          interleaved: isInterleaved ? 1 : 0,
          ...(rotated === 0 ? {} : { rotary_embedding_dim: rotated, num_heads: heads }),
        },
      });
      const expected = Array.from(x.tensor.data, (_: number | bigint, index: number) => {
        const d = index % size;
        const head = Math.floor(index / size) % heads;
        const row = Math.floor(index / size / heads);
        const [b, i] = [Math.floor(row / positions), row % positions];
        const own = (k: number): number => at(x.tensor, b, i, head * size + k);
        if (d >= turning) return own(d);
        const place = first === undefined ? (ids[row] ?? 0) : first + i;
        const pair = isInterleaved ? Math.floor(d / 2) : d % half;
        const [left, right] = isInterleaved ? [2 * pair, 2 * pair + 1] : [pair, pair + half];
        const [c, s] = [at(cos.tensor, place, pair), at(sin.tensor, place, pair)];
        return d === left ? own(left) * c - own(right) * s : own(left) * s + own(right) * c;
      });
      close(y, HostTensor.from('float32', x.tensor.shape, expected));
    });
  });

  describe('GroupQueryAttention', () => {
    const [batch, heads, kvHeads, size] = [2, 4, 2, 4];
    const attributes = { num_heads: heads, kv_num_heads: kvHeads };
    const total = (length: number) => ints([1], [length]);

    /** The expected results of queries that have `first` keys before them, of which caches have more. */
    function expected(
      parts: { readonly q: Plain['q']; readonly k: Plain['k']; readonly v: Plain['v'] },
      {
        first,
        queries,
        ...more
      }: { readonly first: readonly number[]; readonly queries: number } & Partial<Plain>,
    ): HostTensor {
      return plainAttention({
        batch,
        heads,
        queries,
        keys: Math.max(...first) + queries,
        size,
        valueSize: size,
        q: parts.q,
        k: (b, h, j, d) => parts.k(b, Math.floor(h / 2), j, d),
        v: (b, h, j, d) => parts.v(b, Math.floor(h / 2), j, d),
        ...more,
        bias: (b, h, i, j) =>
          j > (first[b] ?? 0) + i ? -Infinity : (more.bias?.(b, h, i, j) ?? 0),
      });
    }

    const headAt =
      (x: HostTensor, start = 0) =>
      (b: number, h: number, i: number, d: number) =>
        at(x, b, i, start + h * size + d);

    test('a prompt, softcap, a bias', async () => {
      const queries = 5;
      const q = floats(['b', batch], ['s', queries], heads * size);
      const [k, v] = [0, 1].map(() => floats(['b', batch], ['s', queries], kvHeads * size));
      if (k === undefined || v === undefined) throw new Error('no operands');
      const bias = floats(1, heads, queries, queries);
      const none = [undefined, undefined, undefined];
      const [y, presentKey] = await run({
        op: 'GroupQueryAttention',
        inputs: [
          q,
          k,
          v,
          undefined,
          undefined,
          ints([batch], [4, 4]),
          total(queries),
          ...none,
          bias,
        ],
        outputCount: 3,
        attributes: { ...attributes, softcap: { float: 0.8 } },
      });
      const parts = { q: headAt(q.tensor), k: headAt(k.tensor), v: headAt(v.tensor) };
      const given = (_b: number, h: number, i: number, j: number) => at(bias.tensor, 0, h, i, j);
      close(y, expected(parts, { first: [0, 0], queries, softcap: 0.8, bias: given }));
      expect(presentKey?.shape).toEqual([batch, kvHeads, queries, size]);
    });

    test.each([
      { capacity: 3, window: -1, sink: 'none' },
      { capacity: 8, window: 2, sink: 'smooth' },
      { capacity: 8, window: -1, sink: 'given' },
    ])('pasts of their own lengths in a cache: %o', async ({ capacity, window, sink }) => {
      const lengths = [3, 1];
      const joined = floats(batch, ['s', 1], (heads + 2 * kvHeads) * size);
      const [pastKey, pastValue] = [0, 1].map(() => floats(batch, kvHeads, ['p', capacity], size));
      if (pastKey === undefined || pastValue === undefined) throw new Error('no pasts');
      const sinks = floats(heads);
      const none = new Array<undefined>(4).fill(undefined);
      const [y, presentKey, presentValue] = await run({
        op: 'GroupQueryAttention',
        inputs: [
          joined,
          undefined,
          undefined,
          pastKey,
          pastValue,
          ints([batch], lengths),
          total(4),
          ...(sink === 'given' ? [...none, sinks] : []),
        ],
        outputCount: 3,
        attributes: {
          ...attributes,
          local_window_size: window,
          smooth_softmax: sink === 'smooth' ? 1 : 0,
        },
      });
      const extended =
        (past: HostTensor, start: number) => (b: number, h: number, j: number, d: number) =>
          j < (lengths[b] ?? 0) ? at(past, b, h, j, d) : headAt(joined.tensor, start)(b, h, 0, d);
      const parts = {
        q: headAt(joined.tensor),
        k: extended(pastKey.tensor, heads * size),
        v: extended(pastValue.tensor, (heads + kvHeads) * size),
      };
      const isFar = (b: number, _h: number, i: number, j: number) =>
        window > 0 && j <= (lengths[b] ?? 0) + i - window ? -Infinity : 0;
      const extra =
        sink === 'none'
          ? {}
          : { sink: (h: number) => (sink === 'smooth' ? 0 : at(sinks.tensor, h)) };
      close(y, expected(parts, { first: lengths, queries: 1, bias: isFar, ...extra }));
      const length = Math.max(capacity, 4);
      expect(presentKey?.shape).toEqual([batch, kvHeads, length, size]);
      for (const b of [0, 1]) {
        const j = lengths[b] ?? 0;
        expect(presentKey && at(presentKey, b, 1, j, 2)).toBeCloseTo(parts.k(b, 1, j, 2), 6);
        expect(presentValue && at(presentValue, b, 1, 0, 2)).toBeCloseTo(parts.v(b, 1, 0, 2), 6);
      }
    });

    test('rotates queries and keys by their places', async () => {
      const lengths = [2, 0];
      const queries = 2;
      const q = floats(batch, ['s', queries], heads * size);
      const [k, v] = [0, 1].map(() => floats(batch, ['s', queries], kvHeads * size));
      const [pastKey, pastValue] = [0, 1].map(() => floats(batch, kvHeads, ['p', 2], size));
      const [cos, sin] = [0, 1].map(() => floats(8, size / 2));
      if (!(k && v && pastKey && pastValue && cos && sin)) throw new Error('no operands');
      const [y] = await run({
        op: 'GroupQueryAttention',
        inputs: [q, k, v, pastKey, pastValue, ints([batch], [3, 1]), total(4), cos, sin],
        outputCount: 3,
        attributes: { ...attributes, do_rotary: 1 },
      });
      const turned = (x: HostTensor) => (b: number, h: number, i: number, d: number) => {
        const place = (lengths[b] ?? 0) + i;
        const pair = d % 2;
        const [left, right] = [headAt(x)(b, h, i, pair), headAt(x)(b, h, i, pair + 2)];
        const [c, s] = [at(cos.tensor, place, pair), at(sin.tensor, place, pair)];
        return d < 2 ? left * c - right * s : left * s + right * c;
      };
      const after =
        (past: HostTensor, own: Plain['k']): Plain['k'] =>
        (b, h, j, d) =>
          j < (lengths[b] ?? 0) ? at(past, b, h, j, d) : own(b, h, j - (lengths[b] ?? 0), d);
      // Keys behind the end of the shorter sequence are seen by no query.
      const within =
        (value: Plain['k']): Plain['k'] =>
        (b, h, j, d) =>
          j < (lengths[b] ?? 0) + queries ? value(b, h, j, d) : 0;
      const parts = {
        q: turned(q.tensor),
        k: within(after(pastKey.tensor, turned(k.tensor))),
        v: within(after(pastValue.tensor, headAt(v.tensor))),
      };
      close(y, expected(parts, { first: lengths, queries }));
    });
  });
});

describeNodes('ai.onnx', (run) => {
  const close = (actual: HostTensor | undefined, expected: HostTensor): void => {
    expect(actual && firstDifference(actual, expected, CLOSE)).toBeUndefined();
    expect(actual).toBeDefined();
  };

  describe('Attention', () => {
    const [batch, heads, kvHeads, queries, past, size] = [2, 4, 2, 3, 2, 4];
    const keys = past + queries;
    const keysOf = () => floats(['b', batch], ['s', queries], kvHeads * size);
    const pastOf = () => floats(['b', batch], kvHeads, ['p', past], size);
    const sizes = { batch, heads, queries, size, valueSize: size };

    test('a past, causal, a shorter mask that hides all keys of a query', async () => {
      const q = floats(['b', batch], ['s', queries], heads * size);
      const [k, v, pastKey, pastValue] = [keysOf(), keysOf(), pastOf(), pastOf()];
      const flags = [1, 0, 1, 0, 0, 0, 1, 1, 1].map(Number);
      const mask = {
        tensor: HostTensor.from('bool', [queries, 3], flags),
        shape: ['s', 3],
      };
      const [y, presentKey, , scores] = await run({
        op: 'Attention',
        opset: 24,
        inputs: [q, k, v, mask, pastKey, pastValue],
        outputCount: 4,
        attributes: {
          q_num_heads: heads,
          kv_num_heads: kvHeads,
          is_causal: 1,
          softcap: { float: 0.7 },
          qk_matmul_output_mode: 3,
        },
      });
      const group = heads / kvHeads;
      const joined =
        (before: HostTensor, own: HostTensor) => (b: number, h: number, j: number, d: number) => {
          const head = Math.floor(h / group);
          return j < past ? at(before, b, head, j, d) : at(own, b, j - past, head * size + d);
        };
      const isSeen = (i: number, j: number) => j <= past + i && j < 3 && flags[i * 3 + j] === 1;
      const expected = plainAttention({
        ...sizes,
        keys,
        softcap: 0.7,
        q: (b, h, i, d) => at(q.tensor, b, i, h * size + d),
        k: joined(pastKey.tensor, k.tensor),
        v: joined(pastValue.tensor, v.tensor),
        bias: (_b, _h, i, j) => (isSeen(i, j) ? 0 : -Infinity),
      });
      // A query that sees nothing gives 0.
      const elements = Array.from(expected.data, Number).map((x) => (Number.isNaN(x) ? 0 : x));
      close(y, HostTensor.from('float32', expected.shape, elements));
      expect(presentKey?.shape).toEqual([batch, kvHeads, keys, size]);
      expect(scores?.shape).toEqual([batch, heads, queries, keys]);
      expect(scores && at(scores, 1, 2, 1, 0)).toBe(0);
    });

    test('ends of keys, causal from them', async () => {
      const lengths = [4, 5];
      const q = floats(['b', batch], heads, ['s', queries], size);
      const [k, v] = [0, 1].map(() => floats(['b', batch], heads, ['t', 5], size));
      if (k === undefined || v === undefined) throw new Error('no operands');
      const ends = { ...ints([batch], lengths, 'int64'), shape: ['b'] };
      const none = [undefined, undefined, undefined];
      const [y] = await run({
        op: 'Attention',
        opset: 24,
        inputs: [q, k, v, ...none, ends],
        outputCount: 1,
        attributes: { is_causal: 1, scale: { float: 0.3 } },
      });
      const rows = plainAttention({
        ...sizes,
        keys: 5,
        scale: 0.3,
        q: (b, h, i, d) => at(q.tensor, b, h, i, d),
        k: (b, h, j, d) => at(k.tensor, b, h, j, d),
        v: (b, h, j, d) => at(v.tensor, b, h, j, d),
        bias: (b, _h, i, j) => (j > i + (lengths[b] ?? 0) - queries ? -Infinity : 0),
      });
      const elements = Array.from(q.tensor.data, (_: number | bigint, index: number) => {
        const [d, i] = [index % size, Math.floor(index / size) % queries];
        const [h, b] = [
          Math.floor(index / size / queries) % heads,
          Math.floor(index / size / queries / heads),
        ];
        return at(rows, b, i, h * size + d);
      });
      close(y, HostTensor.from('float32', q.tensor.shape, elements));
    });
  });

  describe('LinearAttention', () => {
    const [batch, positions, heads, kvHeads, keySize, valueSize] = [2, 4, 4, 2, 3, 5];

    test.each([
      { rule: 'delta', erases: false, rates: 1, domain: undefined },
      { rule: 'gated_delta', erases: true, rates: kvHeads, domain: undefined },
      { rule: 'gated', erases: false, rates: 0, domain: undefined },
      { rule: 'gated_delta', erases: false, rates: kvHeads, domain: 'com.microsoft' },
      { rule: 'linear', erases: false, rates: 0, domain: 'com.microsoft' },
    ])('%o', async ({ rule, erases, rates, domain }) => {
      const over = (width: number) => floats(['b', batch], ['t', positions], width);
      const [q, k, v] = [over(heads * keySize), over(kvHeads * keySize), over(kvHeads * valueSize)];
      const state = floats(['b', batch], kvHeads, keySize, valueSize);
      const decay = rule.startsWith('gated') ? over(kvHeads) : undefined;
      const beta = rates === 0 ? undefined : over(rates);
      const erase = erases ? over(kvHeads * keySize) : undefined;
      const [y, present] = await run({
        op: 'LinearAttention',
        ...(domain === undefined ? { opset: 27 } : { domain }),
        inputs: [q, k, v, state, decay, beta, erase],
        outputCount: 2,
        attributes: { q_num_heads: heads, kv_num_heads: kvHeads, update_rule: rule },
      });
      const range = (count: number) => Array.from({ length: count }, (_, i) => i);
      const expected = new Array<number>(batch * positions * heads * valueSize).fill(0);
      const last = new Array<number>(state.tensor.elements.length).fill(0);
      for (const b of range(batch)) {
        for (const h of range(kvHeads)) {
          const s = range(keySize).map((i) =>
            range(valueSize).map((j) => at(state.tensor, b, h, i, j)),
          );
          for (const t of range(positions)) {
            const key = (i: number) => at(k.tensor, b, t, h * keySize + i);
            const kept = decay === undefined ? 1 : Math.exp(at(decay.tensor, b, t, h));
            const rate = beta === undefined ? 1 : at(beta.tensor, b, t, rates === 1 ? 0 : h);
            for (const j of range(valueSize)) {
              for (const row of s) row[j] = (row[j] ?? 0) * kept;
              const value = at(v.tensor, b, t, h * valueSize + j);
              const found = s.reduce((sum, row, i) => {
                const share = erase === undefined ? 1 : at(erase.tensor, b, t, h * keySize + i);
                return sum + (row[j] ?? 0) * key(i) * share;
              }, 0);
              const added = beta === undefined ? value : rate * (value - found);
              for (const [i, row] of s.entries()) row[j] = (row[j] ?? 0) + key(i) * added;
              for (const g of range(heads / kvHeads)) {
                const head = h * (heads / kvHeads) + g;
                const sum = s.reduce(
                  (all, row, i) => all + (row[j] ?? 0) * at(q.tensor, b, t, head * keySize + i),
                  0,
                );
                expected[((b * positions + t) * heads + head) * valueSize + j] =
                  sum / Math.sqrt(keySize);
              }
            }
          }
          for (const [i, row] of s.entries()) {
            for (const [j, value] of row.entries()) {
              last[((b * kvHeads + h) * keySize + i) * valueSize + j] = value;
            }
          }
        }
      }
      close(y, HostTensor.from('float32', [batch, positions, heads * valueSize], expected));
      close(present, HostTensor.from('float32', state.tensor.shape, last));
    });
  });

  test.each([{ opset: 27 }, { domain: 'com.microsoft' }])(
    'CausalConvWithState of %o goes on where it stopped',
    async (version) => {
      const [batch, channels, length, taps] = [2, 3, 6, 3];
      const weight = floats(channels, 1, taps);
      const bias = floats(channels);
      const x = floats(['b', batch], channels, ['t', length]);
      const part = (start: number, end: number) => {
        const rows = Array.from({ length: batch * channels }, (_, row) =>
          Array.from({ length: end - start }, (_element, i) =>
            at(x.tensor, Math.floor(row / channels), row % channels, start + i),
          ),
        );
        const shape = [batch, channels, end - start];
        return {
          tensor: HostTensor.from('float32', shape, rows.flat()),
          shape: ['b', channels, 't'],
        };
      };
      const convolve = (input: NodeInput, state: NodeInput | undefined) =>
        run({
          op: 'CausalConvWithState',
          ...version,
          inputs: [input, weight, bias, state],
          outputCount: 2,
          attributes: { activation: 'silu' },
        });
      const [whole, end] = await convolve(x, undefined);
      const [, between] = await convolve(part(0, 1), undefined);
      if (between === undefined || whole === undefined) throw new Error('no result');
      const state = { tensor: between, shape: ['b', channels, taps - 1] };
      const [rest, same] = await convolve(part(1, length), state);
      if (rest === undefined || same === undefined || end === undefined)
        throw new Error('no result');
      expect(at(rest, 1, 2, 3)).toBeCloseTo(at(whole, 1, 2, 4), 6);
      expect(at(rest, 0, 1, 0)).toBeCloseTo(at(whole, 0, 1, 1), 6);
      close(same, end);
      let sum = at(bias.tensor, 1);
      for (let i = 0; i < taps; i++) sum += at(weight.tensor, 1, 0, i) * at(x.tensor, 1, 1, 2 + i);
      expect(at(whole, 1, 1, 4)).toBeCloseTo(sum / (1 + Math.exp(-sum)), 5);
    },
  );
});
