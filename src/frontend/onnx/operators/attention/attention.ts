import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { alongAxis, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { axisSize } from '../indexing/indexing.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import {
  addBiases,
  asInt32,
  causalMask,
  dimScalar,
  maskBias,
  paddingMask,
} from './attention-mask.ts';
import { number } from '../elementwise/elementwise.ts';
import { importLinearAttention } from './linear-attention.ts';
import { rotate } from './rotary-embedding.ts';
import {
  type AttentionResult,
  attend,
  attendUnseen,
  mergeHeads,
  splitHeads,
  withPast,
} from './scaled-attention.ts';

/** Attention of opset 23 and 24. Outputs: Y, present_key, present_value, qk_matmul_output. */
function importAttention(node: ImportNode): readonly Expr[] {
  const { attributes } = node;
  const headCounts = ['q_num_heads', 'kv_num_heads', 'kv_num_heads'].map((name) =>
    attributes.int(name),
  );
  const isMerged = node.shape(node.input(0)).length === 3;
  const [query, ownKey, ownValue] = headCounts.map((heads, i) => {
    const x = node.input(i);
    if (!isMerged) return x;
    if (heads === undefined)
      throw node.malformed('no number of heads', 'one, for inputs of rank 3');
    return splitHeads(node, x, heads);
  });
  if (query === undefined || ownKey === undefined || ownValue === undefined) {
    throw new Error('internal: attention without operands');
  }
  const key = withPast(node, node.inputs[4], ownKey);
  const value = withPast(node, node.inputs[5], ownValue);
  const precision = attributes.int('softmax_precision', 0);
  const isSeen = node.outputCount > 3;
  const causal = isSeen ? undefined : firstPlace(node);
  const spec = {
    query,
    key,
    value,
    scale: attributes.float('scale'),
    softcap: attributes.float('softcap', 0),
    bias: attentionBias(node, { query, key, isCausal: causal === undefined }),
    causal,
    // Only a mask, or an end of keys, hides all keys of a query.
    mayMaskRows: node.inputs[3] !== undefined || node.inputs[6] !== undefined,
    softmaxDType: precision === 0 ? undefined : dtypeFromOnnx(precision, node.where),
  };
  const merged = (x: Expr): Expr => (isMerged ? mergeHeads(node, x) : x);
  // It chooses among scores that nobody sees.
  node.attributes.ignore('qk_matmul_output_mode');
  if (!isSeen) return [merged(attendUnseen(node, spec)), key, value];
  const result = attend(node, spec);
  return [merged(result.output), key, value, inspectedScores(node, result)];
}

/** Where causal queries begin among the keys, if all sequences have it alike. */
function firstPlace(node: ImportNode): Dim | undefined {
  const [past, lengths] = [node.inputs[4], node.inputs[6]];
  if (!node.attributes.bool('is_causal')) return undefined;
  if (past !== undefined) return node.shape(past)[2];
  return lengths === undefined ? 0 : undefined;
}

interface BiasedOperands {
  readonly query: Expr;
  readonly key: Expr;
  /** True if the bias has to hide later keys in nodes with `is_causal`. */
  readonly isCausal: boolean;
}

function inspectedScores(node: ImportNode, result: AttentionResult): Expr {
  const { scores, cappedScores, biasedScores, weights } = result;
  const mode = node.attributes.int('qk_matmul_output_mode', 0);
  const chosen = [scores, cappedScores, biasedScores, weights][mode];
  if (chosen !== undefined) return chosen;
  throw node.malformed(`qk_matmul_output_mode ${mode}`, '0, 1, 2 or 3');
}

/** The addend of the scores: the mask, and -infinity for later keys and for those beyond the end. */
function attentionBias(
  node: ImportNode,
  { query, key, isCausal }: BiasedOperands,
): Expr | undefined {
  const keys = node.shape(key)[2] ?? 0;
  const lengths = node.inputs[6];
  const later =
    node.attributes.bool('is_causal') && isCausal ? causal(node, query, keys) : undefined;
  const padding = lengths && maskBias(node, paddingMask(node, lengths, keys), { like: query });
  return addBiases(node, [givenBias(node, query, keys), later, padding]);
}

function causal(node: ImportNode, query: Expr, keys: Dim): Expr {
  const queries = node.shape(query)[2] ?? 0;
  const [past, lengths] = [node.inputs[4], node.inputs[6]];
  let first = dimScalar(node, past === undefined ? 0 : (node.shape(past)[2] ?? 0));
  if (past === undefined && lengths !== undefined) {
    // The queries are the last ones of their sequences.
    const [batch = 1] = node.shape(lengths);
    const begins = node.call('sub', [asInt32(node, lengths), dimScalar(node, queries)]);
    first = node.reshape(begins, [batch, 1, 1, 1]);
  }
  return maskBias(node, causalMask(node, { queries, keys, first }), { like: query });
}

/** The mask, made as long as the keys: what it lacks takes no part. */
function givenBias(node: ImportNode, query: Expr, keys: Dim): Expr | undefined {
  const mask = node.inputs[3];
  if (mask === undefined) return undefined;
  const shape = node.shape(mask);
  const bias = node.type(mask).dtype === 'bool' ? maskBias(node, mask, { like: query }) : mask;
  const missing = node.dims.sub(keys, shape.at(-1) ?? keys);
  if (missing === 0) return bias;
  const rest = node.call('broadcast_to', [number(node, bias, -Infinity)], {
    shape: [...shape.slice(0, -1), missing],
  });
  return node.call('concat', [bias, rest], { axis: shape.length - 1 });
}

/** RotaryEmbedding of opset 23: x, cos and sin of positions or of all positions, positions. */
function importRotaryEmbedding(node: ImportNode): Expr {
  const { attributes } = node;
  const heads = attributes.int('num_heads', 0);
  const positionIds =
    node.inputs[3] && indicesInput(node, 3, alongAxis(node, axisSize(node, node.input(1), 0)));
  const angles = [1, 2].map((index) => {
    const cache = node.input(index);
    return positionIds === undefined
      ? cache
      : node.call('gather', [cache, positionIds], { axis: 0 });
  });
  const [cos, sin] = angles;
  if (cos === undefined || sin === undefined) throw new Error('internal: no angles');
  const isMerged = node.shape(node.input(0)).length === 3;
  if (isMerged && heads === 0) throw node.malformed('no num_heads', 'it, for an input of rank 3');
  return rotate(node, node.input(0), {
    cos,
    sin,
    heads,
    isInterleaved: attributes.bool('interleaved'),
    rotated: attributes.int('rotary_embedding_dim', 0),
  });
}

export const ATTENTION_IMPORTERS: OperatorImporters = {
  Attention: since(
    23,
    'scaled_dot_product_attention matmul where reduce_max equal transpose mul reshape add softmax cast div tanh concat sub less_equal less broadcast_to',
    importAttention,
  ),
  LinearAttention: since(
    27,
    'linear_attention reshape broadcast_to mul exp slice cast',
    importLinearAttention,
  ),
  RotaryEmbedding: since(23, 'mul gather reshape slice sub add concat', importRotaryEmbedding),
};
