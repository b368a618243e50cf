import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast, number } from '../elementwise/elementwise.ts';
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
  const { attributes } = node;
  attributes.ignore('chunk_size');
  const [heads, kvHeads] = ['q_num_heads', 'kv_num_heads'].map((name) => attributes.int(name));
  if (heads === undefined || kvHeads === undefined) {
    throw node.malformed('no number of heads', 'q_num_heads and kv_num_heads');
  }
  const [, , , past, decay, beta, eraseGate] = node.inputs;
  const { dtype } = node.type(node.input(0));
  const wide = wideDType(dtype);
  const [query, key, value] = [0, 1, 2].map((i) => cast(node, node.input(i), wide));
  if (query === undefined || key === undefined || value === undefined) {
    throw new Error('internal: linear attention without operands');
  }
  const rule = ruleOf(node);
  const operands = { query, key, value, past, decay, beta, eraseGate, rule, heads, kvHeads };
  const { result, state } = attendLinear(node, operands);
  return [
    cast(node, result, dtype),
    cast(node, state, past === undefined ? dtype : node.type(past).dtype),
  ];
}

/** The dtype in which sums over positions are kept. */
export function wideDType(dtype: DType): DType {
  return dtype === 'float64' ? dtype : 'float32';
}

/** The attribute that says how a position changes the state. */
export function ruleOf(node: ImportNode): string {
  const rule = node.attributes.string('update_rule', 'gated_delta');
  if (UPDATE_RULES.includes(rule)) return rule;
  throw node.malformed(`update_rule ${rule}`, UPDATE_RULES.join(', '));
}

interface LinearOperands {
  /** (batch, positions, heads * keySize), of the dtype to compute in. */
  readonly query: Expr;
  /** (batch, positions, kvHeads * keySize). */
  readonly key: Expr;
  /** (batch, positions, kvHeads * valueSize). */
  readonly value: Expr;
  /** (batch, kvHeads, keySize, valueSize); zeros where there is none. */
  readonly past: Expr | undefined;
  /** The logarithm of what remains of the state, (batch, positions, 1 or kvHeads or kvHeads * keySize). */
  readonly decay: Expr | undefined;
  /** (batch, positions, 1 or kvHeads). */
  readonly beta: Expr | undefined;
  /** The factor of the keys with which old values are erased, of the shape of `key`. */
  readonly eraseGate: Expr | undefined;
  readonly rule: string;
  readonly heads: number;
  readonly kvHeads: number;
}

/** The result (batch, positions, heads * valueSize), times the attribute `scale`, and the state as {@link LinearOperands.past} is. */
export function attendLinear(
  node: ImportNode,
  spec: LinearOperands,
): { readonly result: Expr; readonly state: Expr } {
  const { attributes, dims } = node;
  const { query, key, value, past, heads, kvHeads } = spec;
  const { dtype } = node.type(query);
  const [batch = 1, positions = 1, keyWidth = 1] = node.shape(key);
  const keySize = dims.floordiv(keyWidth, kvHeads);
  const valueSize = dims.floordiv(node.shape(value)[2] ?? 0, kvHeads);
  const stateShape = [batch, kvHeads, keySize, valueSize];
  const initial =
    past === undefined
      ? node.call('broadcast_to', [number(node, value, 0)], { shape: stateShape })
      : cast(node, past, dtype);
  const rows = { batch, positions, kvHeads, keySize };
  const { gate, erase, values } = update(node, spec, rows);
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
  return {
    result: node.reshape(scaled, [batch, positions, width]),
    state: node.reshape(state, stateShape),
  };
}

/** The rule's use of decay, beta and erase gate: factors, keys to erase by, values to add. */
function update(
  node: ImportNode,
  { rule, key, value, decay, beta, eraseGate }: LinearOperands,
  rows: KeyRows,
): { readonly gate: Expr | undefined; readonly erase: Expr | undefined; readonly values: Expr } {
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
