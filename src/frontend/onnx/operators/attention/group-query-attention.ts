import { growsInPlace } from '../../../../compiler/ir/append-axis.ts';
import { ifElse } from '../../../../compiler/ir/build.ts';
import { hostInteger } from '../../sizes/host-integer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { alongAxis, fromBegin, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import {
  addBiases,
  asInt32,
  causalMask,
  dimScalar,
  maskBias,
  positions,
} from './attention-mask.ts';
import { number } from '../elementwise/elementwise.ts';
import { rotate } from './rotary-embedding.ts';
import { attendCached, attendUnseen, mergeHeads, splitHeads } from './scaled-attention.ts';
import { cutAlong } from '../movement/slice-along.ts';

/**
 * GroupQueryAttention: query, key, value, past_key, past_value, seqlens_k, total_sequence_length,
 * cos_cache, sin_cache, position_ids, attention_bias, head_sink. Outputs: the result, present_key,
 * present_value. Sequences have pasts of their own lengths, so that new keys go to places of their
 * own in the cache.
 */
export function importGroupQueryAttention(node: ImportNode): readonly Expr[] {
  const { attributes } = node;
  refuseQuantizedCaches(node);
  const heads = projections(node);
  const [batch = 1, , queries = 1] = node.shape(heads.query);
  const keys = keyCount(node, queries);
  const first = pastLengths(node, { batch, queries, keys });
  const cosine = node.inputs[7];
  const isRotary = attributes.bool('do_rotary');
  const isInterleaved = attributes.bool('rotary_interleaved');
  const turn = (x: Expr): Expr => {
    if (!isRotary || cosine === undefined) return x;
    const rows = alongAxis(node, node.shape(cosine)[0] ?? 0);
    const ids = node.inputs[9] ? indicesInput(node, 9, rows) : placesOf(node, first, queries);
    return turned(node, x, { ids, isInterleaved });
  };
  const [query, key] = [turn(heads.query), turn(heads.key)];
  const presentKey = cached(node, { past: node.inputs[3], added: key, first, keys });
  const presentValue = cached(node, { past: node.inputs[4], added: heads.value, first, keys });
  const window = Math.max(attributes.int('local_window_size', -1), 0);
  const scale = attributes.float('scale', 0);
  const spec = {
    query,
    key: presentKey,
    value: presentValue,
    scale: scale === 0 ? undefined : scale,
    softcap: attributes.float('softcap', 0),
    sink: sinkOf(node, query),
  };
  const [bias, isCached] = [givenBias(node, keys), node.inputs[3] !== undefined];
  if (isCached && bias === undefined && spec.sink === undefined) {
    const output = attendCached(node, { ...spec, first, window });
    return [mergeHeads(node, output), presentKey, presentValue];
  }
  const mask = causalMask(node, {
    queries,
    keys,
    first: node.reshape(first, [batch, 1, 1, 1]),
    // The window counts the query's own place.
    window: window > 0 ? window - 1 : undefined,
  });
  const biases = addBiases(node, [maskBias(node, mask, { like: query }), bias]);
  const output = attendUnseen(node, { ...spec, bias: biases });
  return [mergeHeads(node, output), presentKey, presentValue];
}

function refuseQuantizedCaches(node: ImportNode): void {
  const { attributes } = node;
  const types = ['k_quant_type', 'v_quant_type'].map((name) => attributes.string(name, 'NONE'));
  const output = attributes.int('qk_output', 0);
  attributes.ignore('kv_cache_bit_width');
  if (types.some((type) => type !== 'NONE')) throw node.unsupported('quantized caches', 'NONE');
  if (output !== 0) throw node.unsupported(`qk_output ${output}`, '0');
}

interface Projections {
  readonly query: Expr;
  readonly key: Expr;
  readonly value: Expr;
}

/** Keys and values may come behind the queries in one tensor. */
function projections(node: ImportNode): Projections {
  const [heads, kvHeads] = ['num_heads', 'kv_num_heads'].map((name) => node.attributes.int(name));
  if (heads === undefined || kvHeads === undefined) {
    throw node.malformed('no number of heads', 'num_heads and kv_num_heads');
  }
  const counts = [heads, kvHeads, kvHeads];
  let tensors: readonly (Expr | undefined)[] = [node.input(0), node.inputs[1], node.inputs[2]];
  if (node.inputs[1] === undefined) {
    const joined = node.input(0);
    const width = node.shape(joined)[2] ?? 0;
    const size = node.dims.floordiv(width, heads + 2 * kvHeads);
    const sizes = counts.map((count) => node.dims.mul(size, count));
    tensors = cutAlong(node, joined, { axis: 2, sizes });
  }
  const [query, key, value] = tensors.map((x, i) => x && splitHeads(node, x, counts[i] ?? 1));
  if (query === undefined || key === undefined || value === undefined) {
    throw node.malformed('keys without values', 'both');
  }
  return { query, key, value };
}

interface Lengths {
  readonly batch: Dim;
  readonly queries: Dim;
  readonly keys: Dim;
}

/** How much of each sequence was there before, int32 (batch). A shorter one is padded at its end. */
function pastLengths(node: ImportNode, { batch, queries, keys }: Lengths): Expr {
  const lasts = node.reshape(asInt32(node, indicesInput(node, 5, fromBegin(keys))), [batch]);
  const begins = node.call('sub', [lasts, dimScalar(node, node.dims.sub(queries, 1))]);
  return node.call('maximum', [begins, node.scalar(0, 'int32')]);
}

/** The places of all queries, int32 (batch, queries). */
function placesOf(node: ImportNode, first: Expr, queries: Dim): Expr {
  const [batch = 1] = node.shape(first);
  const columns = node.reshape(positions(node, queries), [1, queries]);
  return node.call('add', [node.reshape(first, [batch, 1]), columns]);
}

function turned(
  node: ImportNode,
  x: Expr,
  { ids, isInterleaved }: { readonly ids: Expr; readonly isInterleaved: boolean },
): Expr {
  const angles = [7, 8].map((index) => node.call('gather', [node.input(index), ids], { axis: 0 }));
  const [cos, sin] = angles;
  if (cos === undefined || sin === undefined) throw new Error('internal: no angles');
  const pairs = node.shape(cos)[2] ?? 0;
  const rotated = node.number(node.dims.mul(pairs, 2), 'the size of what is rotated');
  return rotate(node, x, { cos, sin, heads: 0, rotated, isInterleaved });
}

interface Cache {
  readonly past: Expr | undefined;
  readonly added: Expr;
  readonly first: Expr;
  readonly keys: Dim;
}

/** How many keys there are with those of the past: the cache may be longer than what is in it. */
function keyCount(node: ImportNode, queries: Dim): Dim {
  const past = node.inputs[3];
  const given = past === undefined ? 0 : (node.shape(past)[2] ?? 0);
  const total = node.dimsInput(6, 'total_sequence_length')?.[0] ?? queries;
  return given === 0 ? total : node.dims.max(total, given);
}

/** The past with what is new from a place of its own on in each sequence, at least as long as all. */
function cached(node: ImportNode, { past, added, first, keys }: Cache): Expr {
  const [, , queries = 1] = node.shape(added);
  const given = past === undefined ? 0 : (node.shape(past)[2] ?? 0);
  if (given === 0 && keys === queries) return added;
  const whole = lengthened(node, { past: given === 0 ? undefined : past, added, keys });
  return node.call('tensor_scatter', [whole, added, first], { axis: 2 });
}

/** The past and zeros behind it. It stays where it is, if it may grow there, or else if it is long enough. */
function lengthened(node: ImportNode, { past, added, keys }: Omit<Cache, 'first'>): Expr {
  const [batch = 1, heads = 1, , size = 1] = node.shape(added);
  const given = past === undefined ? 0 : (node.shape(past)[2] ?? 0);
  const missing = node.dims.sub(keys, given);
  if (past !== undefined && missing === 0) return past;
  const shape = [batch, heads, missing, size];
  const rest = node.call('broadcast_to', [number(node, added, 0)], { shape });
  if (past === undefined) return rest;
  const longer = node.call('concat', [past, rest], { axis: 2 });
  if (typeof missing === 'number' || growsInPlace(node.type(past), 2)) return longer;
  const isShort = hostInteger(missing, node.block.frame);
  return ifElse(isShort, longer, node.reshape(past, [batch, heads, keys, size]));
}

/** The bias, made as long as the cache: what it lacks no query attends to. */
function givenBias(node: ImportNode, keys: Dim): Expr | undefined {
  const bias = node.inputs[10];
  if (bias === undefined) return undefined;
  const shape = node.shape(bias);
  const missing = node.dims.sub(keys, shape.at(-1) ?? keys);
  if (missing === 0) return bias;
  const rest = node.call('broadcast_to', [number(node, bias, 0)], {
    shape: [...shape.slice(0, -1), missing],
  });
  return node.call('concat', [bias, rest], { axis: shape.length - 1 });
}

/** A score that each head has beside those of its keys. */
function sinkOf(node: ImportNode, query: Expr): Expr | undefined {
  const sink = node.inputs[11];
  const isSmooth = node.attributes.int('smooth_softmax', 0) === 1;
  if (sink === undefined) return isSmooth ? number(node, query, 0) : undefined;
  const [, heads = 1] = node.shape(query);
  return node.reshape(sink, [1, heads, 1, 1]);
}
