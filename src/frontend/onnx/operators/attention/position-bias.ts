import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { number } from '../elementwise/elementwise.ts';
import { cutAlong } from '../movement/slice-along.ts';
import { positions } from './attention-mask.ts';
import { requiredHeads } from './microsoft-attention.ts';
import { splitHeads } from './scaled-attention.ts';

interface Buckets {
  readonly count: number;
  readonly farthest: number;
  readonly isBidirectional: boolean;
}

/**
 * The bucket of a distance from a query to a key: half of the buckets have one distance each, the others grow with its
 * logarithm. C. Raffel et al., "Exploring the limits of transfer learning" (2020), whose logarithms are float32.
 */
function bucketOf(distance: number, { count, farthest, isBidirectional }: Buckets): number {
  const half = isBidirectional ? Math.floor(count / 2) : count;
  const base = isBidirectional && distance > 0 ? half : 0;
  const far = isBidirectional ? Math.abs(distance) : Math.max(-distance, 0);
  const exact = Math.floor(half / 2);
  if (far < exact) return base + far;
  const log = Math.fround(Math.log(Math.fround(far / exact)));
  const share = Math.fround(log / Math.fround(Math.log(farthest / exact)));
  const bucket = exact + Math.trunc(Math.fround(share * (half - exact)));
  return base + Math.min(bucket, half - 1);
}

/** RelativePositionBias: the table of biases, its columns one after the other, and numbers of queries and keys. */
function importRelativePositionBias(node: ImportNode): Expr {
  const { attributes } = node;
  const table = node.input(0);
  const [rows = 1, heads = 1] = node.shape(table);
  const count = node.number(rows, 'the number of buckets');
  const farthest = attributes.int('max_distance', 0);
  const isBidirectional = attributes.bool('is_bidirectional');
  if (count < (isBidirectional ? 4 : 2) || farthest <= count / (isBidirectional ? 4 : 2)) {
    throw node.malformed(
      `${count} buckets for distances up to ${farthest}`,
      'buckets, and a max_distance beyond those of one distance each',
    );
  }
  const [queries = 1] = node.dimsInput(1, 'the number of queries') ?? [];
  const [keys = 1] = node.dimsInput(2, 'the number of keys') ?? [];
  const buckets = { count, farthest, isBidirectional };
  const ofDistance = node.table('int32', [2 * farthest + 1], (i) =>
    bucketOf(i - farthest, buckets),
  );
  const columns = node.reshape(table, [heads, rows]);
  const byDistance = node.call('gather', [columns, ofDistance], { axis: 1 });
  const distances = node.call('sub', [
    node.reshape(positions(node, keys), [1, keys]),
    node.reshape(positions(node, queries), [queries, 1]),
  ]);
  const bound = (value: number): Expr => node.scalar(value, 'int32');
  const near = node.call('minimum', [
    node.call('maximum', [distances, bound(-farthest)]),
    bound(farthest),
  ]);
  const places = node.call('add', [near, bound(farthest)]);
  const bias = node.call('gather', [byDistance, places], { axis: 1 });
  return node.reshape(bias, [1, heads, queries, keys]);
}

/**
 * GatedRelativePositionBias: query, its bias, biases of positions, weight and bias of the gates, and what scales one of
 * them: Z. Chi et al., "XLM-E" (2022).
 */
function importGatedRelativePositionBias(node: ImportNode): Expr {
  if (node.inputs[6] !== undefined)
    throw node.unsupported('tokens without padding', 'no token_offset');
  const heads = requiredHeads(node, 'num_heads');
  const query = splitHeads(node, node.call('add', [node.input(0), node.input(1)]), heads);
  const product = node.call('matmul', [query, node.input(3)]);
  const [batch = 1, , rows = 1, width = 2] = node.shape(product);
  const projected = node.call('add', [product, node.input(4)]);
  const halves = node.reshape(projected, [batch, heads, rows, 2, node.dims.floordiv(width, 2)]);
  const sums = node.call('reduce_sum', [halves], { axes: [4], keepdims: false });
  const gates = node.call('sigmoid', [sums]);
  const [update, reset] = cutAlong(node, gates, { axis: 3, sizes: [1, 1] });
  if (update === undefined || reset === undefined) throw new Error('internal: no gates');
  const scaled = node.call('mul', [reset, node.input(5)]);
  const shifted = node.call('sub', [scaled, number(node, scaled, 1)]);
  const factor = node.call('add', [node.call('mul', [update, shifted]), number(node, scaled, 2)]);
  return node.call('mul', [factor, node.input(2)]);
}

export const POSITION_BIAS_IMPORTERS: OperatorImporters = {
  GatedRelativePositionBias: since(
    1,
    'mul add reshape transpose matmul reduce_sum sigmoid slice sub',
    importGatedRelativePositionBias,
  ),
  RelativePositionBias: since(
    1,
    'gather reshape sub maximum minimum add arange cast',
    importRelativePositionBias,
  ),
};
