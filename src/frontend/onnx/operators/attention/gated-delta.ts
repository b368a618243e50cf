import type { Expr } from '../../../../compiler/ir/expr.ts';
import { formatDim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { softplus } from '../elementwise/activation.ts';
import { cast, number } from '../elementwise/elementwise.ts';
import { attendLinear, ruleOf, wideDType } from './linear-attention.ts';

/** LinearAttentionGate: a, dt_bias, decay_scale, b. Outputs: decay_scale * softplus(a + dt_bias), sigmoid(b). */
function importLinearAttentionGate(node: ImportNode): readonly (Expr | undefined)[] {
  const [a, b] = [node.input(0), node.inputs[3]];
  const { dtype } = node.type(a);
  const wide = wideDType(dtype);
  const [shift, scale] = [1, 2].map((index) => cast(node, node.input(index), wide));
  if (shift === undefined || scale === undefined) throw new Error('internal: no parameters');
  const grown = softplus(node, node.call('add', [cast(node, a, wide), shift]));
  const decay = cast(node, node.call('mul', [grown, scale]), dtype);
  if (node.outputCount < 2) return [decay];
  if (b === undefined) throw node.malformed('no b, but an output beta', 'both or neither');
  return [decay, cast(node, node.call('sigmoid', [cast(node, b, wide)]), dtype)];
}

/** GatedAdd: x + y * gate, with a gate for each row. */
function importGatedAdd(node: ImportNode): Expr {
  const gated = node.call('mul', [node.input(1), node.input(2)]);
  return node.call('add', [node.input(0), gated]);
}

/**
 * GatedDeltaNet: query, key, value (tokens, heads, size) or (batch, positions, heads, size), cu_seqlens, decay, beta,
 * initial_state (batch, heads, valueSize, keySize), a_log, dt_bias. Outputs: the result, and the state.
 */
function importGatedDeltaNet(node: ImportNode): readonly Expr[] {
  const { attributes, dims } = node;
  attributes.ignore('chunk_size');
  if (attributes.int('state_update_capacity', 0) !== 0) {
    throw node.unsupported('state_update_capacity', '0: no compact updates');
  }
  if (node.inputs[3] !== undefined) {
    throw node.unsupported('cu_seqlens', 'sequences of one length');
  }
  const [query, key, value] = [node.input(0), node.input(1), node.input(2)];
  const { dtype, shape } = node.type(value);
  const wide = wideDType(dtype);
  const past = node.inputs[6];
  const isPacked = shape.length === 3;
  if (isPacked && past === undefined) {
    throw node.malformed(
      'tokens without initial_state',
      'it: it says how many sequences there are',
    );
  }
  const batch = (isPacked ? past && node.shape(past)[0] : shape[0]) ?? 1;
  const positions = (isPacked ? dims.floordiv(shape[0] ?? 0, batch) : shape[1]) ?? 1;
  const [valueHeads = 1, valueSize = 1] = shape.slice(-2);
  const [keyHeads = 1, keySize = 1] = node.shape(key).slice(-2);
  const heads = node.number(valueHeads, 'the number of heads');
  const shared = node.number(keyHeads, 'the number of heads of keys');
  const queryHeads = node.shape(query).at(-2) ?? 1;
  if (shared < 1 || heads % shared !== 0 || queryHeads !== keyHeads) {
    throw node.malformed(
      `${formatDim(queryHeads)} heads of queries, ${shared} of keys and ${heads} of values`,
      'as many of queries as of keys, and a multiple of them of values',
    );
  }
  /** Those of queries or keys, each for all heads of values that share it. */
  const spread = (x: Expr): Expr => {
    const split = node.reshape(cast(node, x, wide), [batch, positions, shared, keySize]);
    const unit = attributes.bool('qk_l2_norm') ? overLength(node, split) : split;
    const single = node.reshape(unit, [batch, positions, shared, 1, keySize]);
    const all = node.call('broadcast_to', [single], {
      shape: [batch, positions, shared, heads / shared, keySize],
    });
    return node.reshape(all, [batch, positions, dims.mul(keySize, heads)]);
  };
  const flat = (x: Expr | undefined): Expr | undefined => {
    if (x === undefined) return undefined;
    const rest = node.shape(x).slice(isPacked ? 1 : 2);
    const width = rest.reduce((product, size) => dims.mul(product, size), 1 as (typeof rest)[0]);
    return node.reshape(cast(node, x, wide), [batch, positions, width]);
  };
  const { result, state } = attendLinear(node, {
    query: spread(query),
    key: spread(key),
    value: node.reshape(cast(node, value, wide), [batch, positions, dims.mul(valueSize, heads)]),
    past: past && node.call('transpose', [past], { perm: [0, 1, 3, 2] }),
    decay: decayOf(node, flat(node.inputs[4])),
    beta: betaOf(node, flat(node.inputs[5])),
    eraseGate: undefined,
    rule: ruleOf(node),
    heads,
    kvHeads: heads,
  });
  const last = node.call('transpose', [state], { perm: [0, 1, 3, 2] });
  return [cast(node, node.reshape(result, shape), dtype), cast(node, last, 'float32')];
}

/** Rows over their lengths, with what Flash Linear Attention adds to squares. */
function overLength(node: ImportNode, x: Expr): Expr {
  const squares = node.call('mul', [x, x]);
  const sum = node.call('reduce_sum', [squares], { axes: [3], keepdims: true });
  const length = node.call('sqrt', [node.call('add', [sum, number(node, sum, 1e-6)])]);
  return node.call('div', [x, length]);
}

/** The decay that a projection stands for: itself, or -exp(a_log) * softplus(decay + dt_bias). */
function decayOf(node: ImportNode, decay: Expr | undefined): Expr | undefined {
  const activation = node.attributes.string('gate_activation', 'none');
  const [log, bias] = [node.inputs[7], node.inputs[8]];
  if (activation === 'none' || decay === undefined) return decay;
  if (activation !== 'qwen' || log === undefined || bias === undefined) {
    throw node.malformed(`gate_activation ${activation}`, 'none, or qwen with a_log and dt_bias');
  }
  const { dtype } = node.type(decay);
  const grown = softplus(node, node.call('add', [decay, cast(node, bias, dtype)]));
  const rate = node.call('neg', [node.call('exp', [cast(node, log, dtype)])]);
  return node.call('mul', [rate, grown]);
}

function betaOf(node: ImportNode, beta: Expr | undefined): Expr | undefined {
  const activation = node.attributes.string('beta_activation', 'none');
  if (activation === 'none' || beta === undefined) return beta;
  if (activation === 'sigmoid') return node.call('sigmoid', [beta]);
  throw node.malformed(`beta_activation ${activation}`, 'none or sigmoid');
}

export const GATED_DELTA_IMPORTERS: OperatorImporters = {
  GatedAdd: since(1, 'add mul', importGatedAdd),
  GatedDeltaNet: since(
    1,
    'linear_attention reshape broadcast_to mul exp slice cast transpose reduce_sum sqrt add div neg sigmoid relu abs log1p',
    importGatedDeltaNet,
  ),
  LinearAttentionGate: since(
    1,
    'add cast mul sigmoid relu abs neg exp log1p',
    importLinearAttentionGate,
  ),
};
