import { type OperatorImporters, since } from '../../operator-importer.ts';
import { refuseAttributes } from '../refuse-attributes.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { fromBegin, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { axisSize } from '../indexing/indexing.ts';
import {
  addBiases,
  asInt32,
  causalMask,
  dimScalar,
  maskBias,
  positions,
} from './attention-mask.ts';
import { number } from '../elementwise/elementwise.ts';
import { importGroupQueryAttention } from './group-query-attention.ts';
import { importLinearAttention } from './linear-attention.ts';
import { rotate } from './rotary-embedding.ts';
import { attend, attendUnseen, mergeHeads, splitHeads, withPast } from './scaled-attention.ts';
import { cutAlong, sliceAlong } from '../movement/slice-along.ts';

/** The common part of operators of several heads. */
interface Heads {
  readonly query: Expr;
  readonly key: Expr;
  readonly value: Expr;
  readonly pastLength: Dim;
  readonly mask: Expr | undefined;
  readonly bias: Expr | undefined;
}

/** The output, and the scores where they are an output of the node too. */
export function attendWithMask(node: ImportNode, spec: Heads): readonly [Expr, Expr?] {
  const { query, key, value, pastLength, mask } = spec;
  const { attributes } = node;
  const queries = node.shape(query)[2] ?? 0;
  const keys = node.shape(key)[2] ?? 0;
  const otherwise = attributes.float('mask_filter_value', -10000);
  const isPresent = mask && attendedKeys(node, mask, { queries, keys, pastLength, query });
  const padding = isPresent && maskBias(node, isPresent, { like: query, otherwise });
  const isSeen = node.opType === 'MultiHeadAttention' && node.outputCount > 3;
  const isCausal = attributes.bool('unidirectional');
  const later =
    isCausal && isSeen
      ? maskBias(node, causalMask(node, { queries, keys, first: dimScalar(node, pastLength) }), {
          like: query,
        })
      : undefined;
  const scale = attributes.float('scale', 0);
  const scaled = {
    query,
    key,
    value,
    scale: scale === 0 ? undefined : scale,
    bias: addBiases(node, [padding, later, spec.bias]),
    causal: isCausal ? pastLength : undefined,
  };
  if (!isSeen) return [mergeHeads(node, attendUnseen(node, scaled))];
  const { output, biasedScores } = attend(node, scaled);
  return [mergeHeads(node, output), biasedScores];
}

interface MaskSizes {
  readonly queries: Dim;
  readonly keys: Dim;
  readonly pastLength: Dim;
  readonly query: Expr;
}

/**
 * Which keys take part, bool (batch, 1, 1 or queries, keys): lengths (batch), ends and then begins
 * (2 * batch), or where a mask of rank 2, 3 or 4 is above 0.
 */
function attendedKeys(node: ImportNode, mask: Expr, sizes: MaskSizes): Expr {
  const { queries, keys, pastLength, query } = sizes;
  const shape = node.shape(mask);
  const [batch = 1] = node.shape(query);
  if (shape.length === 1) return betweenEnds(node, mask, { batch, keys });
  const isAbove = (x: Expr): Expr => node.call('greater', [x, number(node, x, 0)]);
  if (shape.length === 2) return isAbove(node.reshape(mask, [batch, 1, 1, keys]));
  if (shape.length === 3) return isAbove(node.reshape(mask, [batch, 1, queries, keys]));
  // A square for all positions that there may be.
  const end = node.dims.add(pastLength, queries);
  const rows = sliceAlong(node, mask, { axis: 2, start: pastLength, end });
  return isAbove(sliceAlong(node, rows, { axis: 3, start: 0, end: keys }));
}

function betweenEnds(
  node: ImportNode,
  bounds: Expr,
  { batch, keys }: { readonly batch: Dim; readonly keys: Dim },
): Expr {
  const [count = batch] = node.shape(bounds);
  const ends = asInt32(node, bounds);
  const columns = node.reshape(positions(node, keys), [1, 1, 1, keys]);
  const perSequence = (x: Expr): Expr => node.reshape(x, [batch, 1, 1, 1]);
  const firstEnds =
    count === batch ? ends : sliceAlong(node, ends, { axis: 0, start: 0, end: batch });
  const isBefore = node.call('less', [columns, perSequence(firstEnds)]);
  // Behind the lengths MultiHeadAttention has offsets, which follow from the shapes.
  if (count === batch || node.opType === 'MultiHeadAttention') return isBefore;
  const begins = sliceAlong(node, ends, { axis: 0, start: batch, end: count });
  // Only the running program may know whether there are begins: else there are zeros.
  const missing = node.dims.sub(node.dims.mul(batch, 2), count);
  const zeros = (): Expr =>
    node.call('broadcast_to', [node.scalar(0, 'int32')], { shape: [missing] });
  const all = missing === 0 ? begins : node.call('concat', [begins, zeros()], { axis: 0 });
  const isAfter = node.call('greater_equal', [columns, perSequence(all)]);
  return node.call('bitwise_and', [isBefore, isAfter]);
}

/** Attention: input, weights, bias, mask_index, past, attention_bias. Outputs: the result, present. */
function importAttention(node: ImportNode): readonly Expr[] {
  const [x, weights, bias] = [node.input(0), node.input(1), node.inputs[2]];
  const product = node.call('matmul', [x, weights]);
  return attendProjected(node, {
    projected: bias === undefined ? product : node.call('add', [product, bias]),
    mask: node.inputs[3],
    past: node.inputs[4],
    bias: node.inputs[5],
  });
}

interface Projected {
  /** Queries, keys and values behind each other: (batch, rows, width). */
  readonly projected: Expr;
  readonly mask: Expr | undefined;
  readonly past: Expr | undefined;
  readonly bias: Expr | undefined;
}

/** The result, and the present where the node gives it. */
export function attendProjected(
  node: ImportNode,
  { projected, mask, past, bias }: Projected,
): readonly Expr[] {
  const { attributes } = node;
  refuseAttributes(node, ['do_rotary', 'past_present_share_buffer']);
  attributes.ignore('rotary_embedding_dim');
  const heads = requiredHeads(node, 'num_heads');
  const third = node.dims.floordiv(node.shape(projected)[2] ?? 0, 3);
  const sizes = attributes.ints('qkv_hidden_sizes') ?? [third, third, third];
  const [query, ownKey, ownValue] = cutAlong(node, projected, { axis: 2, sizes }).map((part) =>
    splitHeads(node, part, heads),
  );
  if (query === undefined || ownKey === undefined || ownValue === undefined) {
    throw node.malformed(`${sizes.length} qkv_hidden_sizes`, '3');
  }
  const [pastKey, pastValue] = past === undefined ? [] : unstack(node, past);
  const pastLength = past === undefined ? 0 : (node.shape(past)[3] ?? 0);
  const key = withPast(node, pastKey, ownKey);
  const value = withPast(node, pastValue, ownValue);
  const [output] = attendWithMask(node, { query, key, value, pastLength, mask, bias });
  if (node.outputCount < 2) return [output];
  const parts = [key, value].map((part) => node.reshape(part, [1, ...node.shape(part)]));
  return [output, node.call('concat', parts, { axis: 0 })];
}

/** The two tensors along the first axis. */
function unstack(node: ImportNode, x: Expr): readonly Expr[] {
  const [, ...shape] = node.shape(x);
  return cutAlong(node, x, { axis: 0, sizes: [1, 1] }).map((part) => node.reshape(part, shape));
}

/**
 * MultiHeadAttention: query, key, value, bias, key_padding_mask, attention_bias, past_key,
 * past_value. Outputs: the result, present_key, present_value, the scores.
 */
function importMultiHeadAttention(node: ImportNode): readonly Expr[] {
  const heads = requiredHeads(node, 'num_heads');
  if ([8, 9].some((index) => node.inputs[index] !== undefined)) {
    throw node.unsupported('past_sequence_length or cache_indirection', 'neither');
  }
  const [query, ownKey, ownValue] = headParts(node, heads);
  if (query === undefined || ownKey === undefined || ownValue === undefined) {
    throw node.malformed('no keys or values', 'both, separate or stacked');
  }
  const past = node.inputs[6];
  const key = withPast(node, past, ownKey);
  const value = withPast(node, node.inputs[7], ownValue);
  const [output, biasedScores] = attendWithMask(node, {
    query,
    key,
    value,
    pastLength: past === undefined ? 0 : (node.shape(past)[2] ?? 0),
    mask: node.inputs[4],
    bias: node.inputs[5],
  });
  return [output, key, value, ...(biasedScores === undefined ? [] : [biasedScores])];
}

/** Query, key and value as (batch, heads, rows, size), with their biases. */
function headParts(node: ImportNode, heads: number): readonly Expr[] {
  const [query, key, value, bias] = [node.input(0), node.inputs[1], node.inputs[2], node.inputs[3]];
  if (key === undefined) return addHeadBiases(node, unstackHeads(node, query), bias);
  const ownQuery = splitHeads(node, query, heads);
  const rank = node.shape(key).length;
  if (rank === 5) return addHeadBiases(node, [ownQuery, ...unstackHeads(node, key)], bias);
  if (value === undefined) return [];
  if (rank === 3) {
    const parts = [ownQuery, splitHeads(node, key, heads), splitHeads(node, value, heads)];
    return addHeadBiases(node, parts, bias);
  }
  // Keys and values of this form have their biases already.
  return [...addHeadBiases(node, [ownQuery], bias), key, value];
}

/** Queries, keys and values. */
const MAX_STACKED = 3;

/** (batch, rows, heads, parts, size) as parts of (batch, heads, rows, size). */
function unstackHeads(node: ImportNode, x: Expr): readonly Expr[] {
  const shape = node.shape(x);
  const [batch = 1, rows = 1, heads = 1, parts = 1, size = 1] = shape;
  const count = node.number(parts, 'the number of stacked tensors');
  if (count > MAX_STACKED) throw node.malformed(`${count} stacked tensors`, `2 or ${MAX_STACKED}`);
  const sizes = new Array<number>(count).fill(1);
  return cutAlong(node, x, { axis: 3, sizes }).map((part) =>
    node.call('transpose', [node.reshape(part, [batch, rows, heads, size])], {
      perm: [0, 2, 1, 3],
    }),
  );
}

/** The bias vector has those of all parts one after the other. */
export function addHeadBiases(
  node: ImportNode,
  parts: readonly Expr[],
  bias: Expr | undefined,
): readonly Expr[] {
  if (bias === undefined) return parts;
  const widths = parts.map((part) => {
    const [, heads = 1, , size = 1] = node.shape(part);
    return node.dims.mul(size, heads);
  });
  const biases = cutAlong(node, bias, { axis: 0, sizes: widths });
  return parts.map((part, i) => {
    const [, heads = 1, , size = 1] = node.shape(part);
    const own = biases[i];
    if (own === undefined) return part;
    return node.call('add', [part, node.reshape(own, [1, heads, 1, size])]);
  });
}

/** RotaryEmbedding: input, position_ids, cos_cache, sin_cache. */
function importRotaryEmbedding(node: ImportNode): Expr {
  const { attributes } = node;
  refuseAttributes(node, ['is_packed_batching']);
  if (attributes.float('scale', 1) !== 1) throw node.unsupported('a scale', '1');
  const x = node.input(0);
  const shape = node.shape(x);
  const length = (shape.length === 3 ? shape[1] : shape[2]) ?? 1;
  const isBegin = node.shape(node.input(1)).length < 2;
  const rows = axisSize(node, node.input(2), 0);
  // All positions from a begin on, or each by itself.
  const below = isBegin ? node.dims.add(node.dims.sub(rows, length), 1) : rows;
  const ids = node.tensor(indicesInput(node, 1, fromBegin(below)));
  const places = isBegin
    ? node.call('add', [
        node.reshape(positions(node, length), [1, length]),
        asInt32(node, node.reshape(ids, [1])),
      ])
    : ids;
  const [cos, sin] = [2, 3].map((index) =>
    node.call('gather', [node.input(index), places], { axis: 0 }),
  );
  if (cos === undefined || sin === undefined) throw new Error('internal: no angles');
  const rotated = attributes.int('rotary_embedding_dim', 0);
  const given = attributes.int('num_heads', 0);
  const size = node.dims.mul(node.shape(cos)[2] ?? 0, 2);
  const heads = given === 0 ? node.dims.floordiv(shape[2] ?? 0, size) : given;
  return rotate(node, x, {
    cos,
    sin,
    heads,
    rotated,
    isInterleaved: attributes.bool('interleaved'),
  });
}

export function requiredHeads(node: ImportNode, name: string): number {
  const heads = node.attributes.int(name, 0);
  if (heads > 0) return heads;
  throw node.malformed(`${name} ${heads}`, 'a positive number');
}

export const MICROSOFT_ATTENTION_IMPORTERS: OperatorImporters = {
  Attention: since(
    1,
    'scaled_dot_product_attention matmul add slice reshape transpose where greater concat less greater_equal bitwise_and broadcast_to arange cast',
    importAttention,
  ),
  GroupQueryAttention: since(
    1,
    'scaled_dot_product_attention cached_attention reshape transpose broadcast_to sub maximum tensor_scatter arange cast add less_equal where concat greater_equal bitwise_and slice mul gather matmul softmax div tanh',
    importGroupQueryAttention,
  ),
  LinearAttention: since(
    1,
    'linear_attention reshape slice mul broadcast_to exp cast',
    importLinearAttention,
  ),
  MultiHeadAttention: since(
    1,
    'scaled_dot_product_attention reshape transpose slice add where greater less concat arange cast',
    importMultiHeadAttention,
  ),
  RotaryEmbedding: since(
    1,
    'mul gather reshape slice sub add concat cast arange',
    importRotaryEmbedding,
  ),
};
