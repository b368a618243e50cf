import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dim.ts';
import type { DType } from '../../../../core/dtype.ts';
import type { ImportNode } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

const UPDATE_RULES = ['linear', 'gated', 'delta', 'gated_delta'];

interface KeyRows {
  readonly batch: Dim;
  readonly positions: Dim;
  readonly kvHeads: number;
  readonly keySize: Dim;
}

/**
 * LinearAttention: query, key, value, past_state, decay, beta, erase_gate. Computes in float32 at
 * least, as ONNX demands. Outputs: the result and the state.
 */
export function importLinearAttention(node: ImportNode): readonly Expr[] {
  const { attributes, dims } = node;
  attributes.ignore('chunk_size');
  const rule = attributes.string('update_rule', 'gated_delta');
  if (!UPDATE_RULES.includes(rule)) {
    throw node.malformed(`update_rule ${rule}`, UPDATE_RULES.join(', '));
  }
  const [heads, kvHeads] = ['q_num_heads', 'kv_num_heads'].map((name) => attributes.int(name));
  if (heads === undefined || kvHeads === undefined) {
    throw node.malformed('no number of heads', 'q_num_heads and kv_num_heads');
  }
  const { dtype } = node.type(node.input(0));
  const wide: DType = dtype === 'float64' ? dtype : 'float32';
  const [query, key, value] = [0, 1, 2].map((i) => cast(node, node.input(i), wide));
  if (query === undefined || key === undefined || value === undefined) {
    throw new Error('internal: linear attention without operands');
  }
  const [batch = 1, positions = 1, keyWidth = 1] = node.shape(key);
  const keySize = dims.floordiv(keyWidth, kvHeads);
  const valueSize = dims.floordiv(node.shape(value)[2] ?? 0, kvHeads);
  const past = node.inputs[3];
  const stateShape = [batch, kvHeads, keySize, valueSize];
  const initial =
    past === undefined
      ? node.call('broadcast_to', [number(node, value, 0)], { shape: stateShape })
      : cast(node, past, wide);
  const rows = { batch, positions, kvHeads, keySize };
  const { gate, erase, values } = update(node, { rule, key, value, rows });
  const operands = [query, key, values, initial, gate, erase];
  const all = node.call(
    'linear_attention',
    operands.flatMap((operand) => operand ?? []),
    { heads, kv_heads: kvHeads },
  );
  const width = dims.mul(valueSize, heads);
  const end = dims.mul(dims.mul(batch, positions), width);
  const result = sliceAlong(node, all, { axis: 0, start: 0, end });
  const given = attributes.float('scale', 0);
  const scale = given === 0 ? 1 / Math.sqrt(node.number(keySize, 'the size of keys')) : given;
  const scaled = node.call('mul', [result, number(node, result, scale)]);
  const size = node.shape(all)[0] ?? 0;
  const state = sliceAlong(node, all, { axis: 0, start: end, end: size });
  return [
    cast(node, node.reshape(scaled, [batch, positions, width]), dtype),
    cast(node, node.reshape(state, stateShape), past === undefined ? dtype : node.type(past).dtype),
  ];
}

interface Update {
  readonly rule: string;
  readonly key: Expr;
  readonly value: Expr;
  readonly rows: KeyRows;
}

/** The rule's use of decay, beta and erase gate: factors, keys to erase by, values to add. */
function update(
  node: ImportNode,
  { rule, key, value, rows }: Update,
): { readonly gate: Expr | undefined; readonly erase: Expr | undefined; readonly values: Expr } {
  const [, , , , decay, beta, eraseGate] = node.inputs;
  const isGated = rule.startsWith('gated');
  const isDelta = rule.endsWith('delta');
  if (isGated !== (decay !== undefined) || isDelta !== (beta !== undefined)) {
    throw node.malformed(
      `${decay === undefined ? 'no' : 'a'} decay and ${beta === undefined ? 'no' : 'a'} beta`,
      `what the update rule ${rule} takes`,
    );
  }
  const { dtype } = node.type(key);
  let gate = decay && overKeys(node, node.call('exp', [cast(node, decay, dtype)]), rows);
  if (beta === undefined) return { gate, erase: undefined, values: value };
  const rate = cast(node, beta, dtype);
  const erased =
    eraseGate === undefined ? key : node.call('mul', [key, cast(node, eraseGate, dtype)]);
  const erase = node.call('mul', [erased, overKeys(node, rate, rows)]);
  gate ??= node.call('broadcast_to', [number(node, key, 1)], { shape: node.shape(key) });
  const values = node.call('mul', [value, overHeads(node, rate, { like: value, ...rows })]);
  return { gate, erase, values };
}

/** (batch, positions, 1 or kvHeads or kvHeads * keySize), repeated for each element of keys. */
function overKeys(node: ImportNode, x: Expr, rows: KeyRows): Expr {
  const { batch, positions, kvHeads, keySize } = rows;
  const width = node.dims.mul(keySize, kvHeads);
  const last = node.shape(x)[2] ?? 1;
  if (last === width) return x;
  return spread(node, x, [batch, positions, kvHeads, keySize]);
}

function overHeads(
  node: ImportNode,
  x: Expr,
  { batch, positions, kvHeads, like }: KeyRows & { readonly like: Expr },
): Expr {
  const size = node.dims.floordiv(node.shape(like)[2] ?? 0, kvHeads);
  return spread(node, x, [batch, positions, kvHeads, size]);
}

/** Numbers of heads, or one for all, as (batch, positions, heads * size). */
function spread(node: ImportNode, x: Expr, shape: readonly Dim[]): Expr {
  const [batch = 1, positions = 1, heads = 1, size = 1] = shape;
  const column = node.reshape(x, [batch, positions, node.shape(x)[2] ?? 1, 1]);
  const whole = node.call('broadcast_to', [column], { shape });
  return node.reshape(whole, [batch, positions, node.dims.mul(size, heads)]);
}

function cast(node: ImportNode, x: Expr, to: DType): Expr {
  return node.type(x).dtype === to ? x : node.call('cast', [x], { to });
}
