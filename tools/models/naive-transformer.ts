import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { layerNorm, plus, product, softmax } from './naive-layers.ts';
import { NaiveTensor, sum, tabulate } from './naive-tensor.ts';

export type TransformerWeights = Readonly<Record<string, HostTensor>>;

/** Keys and values of one layer, [batch, heads, length, width of a head]. */
export interface Cache {
  readonly key: NaiveTensor;
  readonly value: NaiveTensor;
}

interface Result {
  /** [batch, sequence, vocabulary]. */
  readonly logits: NaiveTensor;
  readonly presents: readonly Cache[];
}

/** The decoder of transformer.ts from its definition: token by token, head by head. */
export function naiveTransformer(
  weights: TransformerWeights,
  ids: NaiveTensor,
  pasts: readonly Cache[],
): Result {
  const weight = (name: string): NaiveTensor => {
    const found = weights[name];
    if (found === undefined) throw new Error(`internal: no weight ${name}`);
    return NaiveTensor.of(found);
  };
  const [batch = 0, length = 0] = ids.shape;
  const [, , past = 0] = pasts[0]?.key.shape ?? [];
  const [tokens, places] = [weight('wte'), weight('wpe')];
  const [vocabulary = 0, width = 0] = tokens.shape;
  const norm = (name: string, x: NaiveTensor): NaiveTensor =>
    layerNorm(x, [weight(`${name}.scale`), weight(`${name}.bias`)], 1e-5);
  const dense = (name: string, x: NaiveTensor): NaiveTensor =>
    plus(product(x, weight(`${name}.weight`)), weight(`${name}.bias`));

  // One row for each token.
  let x = tabulate([batch * length, width], (row = 0, column = 0) => {
    const [b, i] = [Math.floor(row / length), row % length];
    return tokens.at(ids.at(b, i), column) + places.at(past + i, column);
  });
  const presents: Cache[] = [];
  for (const [layer, cache] of pasts.entries()) {
    const joined = dense(`h${layer}.attention.qkv`, norm(`h${layer}.ln_1`, x));
    const present = { key: longer(cache.key, joined, 1), value: longer(cache.value, joined, 2) };
    presents.push(present);
    x = plus(x, dense(`h${layer}.attention.out`, attend(joined, present)));
    const inner = dense(`h${layer}.mlp.in`, norm(`h${layer}.ln_2`, x)).map(gelu);
    x = plus(x, dense(`h${layer}.mlp.out`, inner));
  }
  const last = norm('ln_f', x);
  const logits = tabulate([batch, length, vocabulary], (b = 0, i = 0, token = 0) =>
    sum(width, (k) => last.at(b * length + i, k) * tokens.at(token, k)),
  );
  return { logits, presents };
}

/** A cache with what a third of each row [queries, keys, values] adds. */
function longer(cache: NaiveTensor, joined: NaiveTensor, third: 1 | 2): NaiveTensor {
  const [batch = 0, heads = 0, past = 0, head = 0] = cache.shape;
  const length = (joined.shape[0] ?? 0) / batch;
  return tabulate([batch, heads, past + length, head], (b = 0, h = 0, i = 0, k = 0) =>
    i < past
      ? cache.at(b, h, i, k)
      : joined.at(b * length + i - past, third * heads * head + h * head + k),
  );
}

/** Each token takes from those up to itself, by the products of its query with their keys. */
function attend(joined: NaiveTensor, { key, value }: Cache): NaiveTensor {
  const [batch = 0, heads = 0, total = 0, head = 0] = key.shape;
  const [rows = 0] = joined.shape;
  const length = rows / batch;
  const shares = Array.from({ length: rows }, (_, row) => {
    const b = Math.floor(row / length);
    const seen = total - length + (row % length) + 1;
    const scores = tabulate([heads, seen], (h = 0, i = 0) => {
      const dot = sum(head, (k) => joined.at(row, h * head + k) * key.at(b, h, i, k));
      return dot / Math.sqrt(head);
    });
    return softmax(scores);
  });
  return tabulate([rows, heads * head], (row = 0, column = 0) => {
    const [h, k] = [Math.floor(column / head), column % head];
    const share = shares[row];
    const seen = share?.shape[1] ?? 0;
    const b = Math.floor(row / length);
    return sum(seen, (i) => (share?.at(h, i) ?? 0) * value.at(b, h, i, k));
  });
}

const gelu = (x: number): number =>
  (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
