import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cutAlong } from '../movement/slice-along.ts';
import { refuseAttributes } from '../refuse-attributes.ts';
import { addBiases, asInt32, maskBias, paddingMask } from './attention-mask.ts';
import {
  addHeadBiases,
  attendWithMask,
  requiredHeads,
  attendProjected,
} from './microsoft-attention.ts';
import { splitHeads, withPast } from './scaled-attention.ts';
import { cast } from '../elementwise/elementwise.ts';
import { multiplyBytes, scaled } from '../quantization/integer-products.ts';

/**
 * DecoderMaskedMultiHeadAttention: query, key, value, mask_index, attention_bias, past_key, past_value,
 * past_sequence_length, beam_width, cache_indirection, bias. One query for each sequence; with keys of rank 4 it attends
 * to those of an encoder. Outputs: the result, present_key, present_value.
 */
function importDecoderMaskedAttention(node: ImportNode): readonly Expr[] {
  refuseAttributes(node, ['output_qk']);
  if (node.inputs[9] !== undefined) {
    throw node.unsupported('cache_indirection', 'none: beams that have caches of their own');
  }
  // A batch has an entry for each beam.
  const heads = requiredHeads(node, 'num_heads');
  const isShared = node.attributes.bool('past_present_share_buffer');
  const [mask, bias] = [node.inputs[3], node.inputs[4]];
  const [query, ownKey, ownValue, isCross] = operands(node, heads);
  if (isCross) {
    const [output] = attendWithMask(node, {
      query,
      key: ownKey,
      value: ownValue,
      pastLength: 0,
      mask,
      bias,
    });
    return [output, ownKey, ownValue];
  }
  const [pastKey, pastValue] = [node.inputs[5], node.inputs[6]];
  if (!isShared || pastKey === undefined || pastValue === undefined) {
    const key = withPast(node, pastKey, ownKey);
    const value = withPast(node, pastValue, ownValue);
    const pastLength: Dim = pastKey === undefined ? 0 : (node.shape(pastKey)[2] ?? 0);
    const [output] = attendWithMask(node, { query, key, value, pastLength, mask, bias });
    return [output, key, value];
  }
  return attendShared(node, {
    query,
    own: [ownKey, ownValue],
    past: [pastKey, pastValue],
    mask,
    bias,
  });
}

interface Shared {
  readonly query: Expr;
  readonly own: readonly [key: Expr, value: Expr];
  readonly past: readonly [key: Expr, value: Expr];
  readonly mask: Expr | undefined;
  readonly bias: Expr | undefined;
}

/** Attention to a cache that is longer than what is in it: past_sequence_length says how much that is. */
function attendShared(node: ImportNode, { query, own, past, mask, bias }: Shared): readonly Expr[] {
  const [batch = 1] = node.shape(query);
  const length = node.reshape(asInt32(node, node.input(7)), [1]);
  const first = node.call('broadcast_to', [length], { shape: [batch] });
  const [key, value] = past.map((cache, i) =>
    node.call('tensor_scatter', [cache, own[i] ?? cache, first], { axis: 2 }),
  );
  if (key === undefined || value === undefined) throw new Error('internal: no cache');
  const keys = node.shape(key)[2] ?? 0;
  const ends = node.call('add', [first, node.scalar(1, 'int32')]);
  const unused = maskBias(node, paddingMask(node, ends, keys), { like: query });
  const [output] = attendWithMask(node, {
    query,
    key,
    value,
    pastLength: 0,
    mask: mask && lengthened(node, mask, keys),
    bias: addBiases(node, [bias && lengthened(node, bias, keys), unused]),
  });
  return [output, key, value];
}

/** A mask or a bias of keys, made as long as the cache: what it lacks is not in use. */
function lengthened(node: ImportNode, x: Expr, keys: Dim): Expr {
  const { dtype, shape } = node.type(x);
  const missing = node.dims.sub(keys, shape.at(-1) ?? keys);
  if (missing === 0) return x;
  const rest = node.call('broadcast_to', [node.scalar(0, dtype)], {
    shape: [...shape.slice(0, -1), missing],
  });
  return node.call('concat', [x, rest], { axis: shape.length - 1 });
}

/** Query, key and value as (batch, heads, rows, size) with their biases, and whether keys are those of an encoder. */
function operands(node: ImportNode, heads: number): readonly [Expr, Expr, Expr, boolean] {
  const [query, key, value, bias] = [
    node.input(0),
    node.inputs[1],
    node.inputs[2],
    node.inputs[10],
  ];
  if ((key === undefined) !== (value === undefined)) {
    throw node.malformed('keys without values, or values without keys', 'both or neither');
  }
  if (key !== undefined && value !== undefined && node.shape(key).length === 4) {
    const own = splitHeads(node, query, heads);
    const [biased = own] = addHeadBiases(node, [own], bias);
    return [biased, key, value, true];
  }
  const third = node.dims.floordiv(node.shape(query)[2] ?? 0, 3);
  const parts =
    key === undefined || value === undefined
      ? cutAlong(node, query, { axis: 2, sizes: [third, third, third] })
      : [query, key, value];
  const split = parts.map((part) => splitHeads(node, part, heads));
  const [q, k, v] = addHeadBiases(node, split, bias);
  if (q === undefined || k === undefined || v === undefined) throw new Error('internal: no parts');
  return [q, k, v, false];
}

export const DECODER_ATTENTION_IMPORTERS: OperatorImporters = {
  DecoderMaskedMultiHeadAttention: since(
    1,
    'scaled_dot_product_attention reshape transpose slice add where greater less greater_equal bitwise_and concat arange cast tensor_scatter broadcast_to',
    importDecoderMaskedAttention,
  ),
};

/**
 * QAttention: input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past.
 * Bytes are projected exactly; what follows is Attention.
 */
function importQAttention(node: ImportNode): readonly Expr[] {
  const bias = node.input(2);
  const sums = multiplyBytes(node, {
    a: node.input(0),
    b: node.input(1),
    aZero: node.inputs[6],
    bZero: node.inputs[7],
  });
  const [xScale, weightScale] = [3, 4].map((index) => cast(node, node.input(index), 'float32'));
  if (xScale === undefined || weightScale === undefined) throw new Error('internal: no scales');
  const product = scaled(node, sums, node.call('mul', [xScale, weightScale]));
  const { dtype } = node.type(bias);
  return attendProjected(node, {
    projected: node.call('add', [cast(node, product, dtype), bias]),
    mask: node.inputs[5],
    past: node.inputs[8],
    bias: undefined,
  });
}

export const QUANTIZED_ATTENTION_IMPORTERS: OperatorImporters = {
  QAttention: since(
    1,
    'matmul_integer cast mul add scaled_dot_product_attention slice reshape transpose where greater concat less greater_equal bitwise_and broadcast_to arange',
    importQAttention,
  ),
};
