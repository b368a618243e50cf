import type { Attributes, AttributeValue } from '../../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../../core/tensor/shape.ts';
import {
  completeAttributes,
  dimsAttribute,
  intAttribute,
  intsAttribute,
} from '../../../ops/attributes.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Expr } from '../../ir/expr.ts';
import { isOperatorCall, type OperatorCall } from '../../ir/operators/operator-name.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { type Permutation, permuted } from './permutation.ts';

/** How an operator computes the transpose of its result from transposed operands. */
export interface AxisRule {
  /**
   * The operands with the axes of the result: the first, or all. `aligned` ones may have fewer axes, which are
   * the last ones. Others are read as they are.
   */
  readonly operands: 'first' | 'all' | 'aligned';
  /** Complete attributes for operands whose axes are permuted. */
  readonly attributes: (attributes: Attributes, perm: Permutation) => Attributes;
}

const axis = (attributes: Attributes, perm: Permutation): Attributes => {
  const at = normalizeAxis(intAttribute(attributes, 'axis'), perm.length, 'axis');
  return { ...attributes, axis: perm.indexOf(at) };
};

const axes = (attributes: Attributes, perm: Permutation): Attributes => {
  const moved = axesOf(attributes, perm.length).map((at) => perm.indexOf(at));
  return { ...attributes, axes: moved.toSorted((a, b) => a - b) };
};

/** Lists with an entry for each axis; empty ones stay so. */
const lists =
  (...names: readonly string[]) =>
  (attributes: Attributes, perm: Permutation): Attributes => {
    const moved = names.map((name): [string, AttributeValue] => [
      name,
      permuted(dimsAttribute(attributes, name), perm),
    ]);
    return { ...attributes, ...Object.fromEntries(moved) };
  };

const pads = (attributes: Attributes, perm: Permutation): Attributes => {
  const list = dimsAttribute(attributes, 'pads');
  const [before, after] = [list.slice(0, perm.length), list.slice(perm.length)];
  return { ...attributes, pads: [...permuted(before, perm), ...permuted(after, perm)] };
};

const ALIGNED: AxisRule = { operands: 'aligned', attributes: (attributes) => attributes };
const ALONG_AXIS: AxisRule = { operands: 'first', attributes: axis };
const REDUCTION: AxisRule = { operands: 'first', attributes: axes };

const RULES: Readonly<Record<string, AxisRule>> = {
  softmax: ALONG_AXIS,
  log_softmax: ALONG_AXIS,
  arg_max: ALONG_AXIS,
  arg_min: ALONG_AXIS,
  cumulative: ALONG_AXIS,
  top_k: ALONG_AXIS,
  gather: ALONG_AXIS,
  resample: ALONG_AXIS,
  concat: { operands: 'all', attributes: axis },
  gather_elements: { operands: 'all', attributes: axis },
  pad: { operands: 'first', attributes: pads },
  slice: { operands: 'first', attributes: lists('starts', 'ends', 'steps') },
  tile: { operands: 'first', attributes: lists('repeats') },
  repeat: { operands: 'first', attributes: lists('repeats') },
  broadcast_to: { operands: 'first', attributes: lists('shape') },
  reduce_sum: REDUCTION,
  reduce_mean: REDUCTION,
  reduce_prod: REDUCTION,
  reduce_max: REDUCTION,
  reduce_min: REDUCTION,
};

/** The rule of a call whose result has as many axes as the operands with its axes; undefined where there is none. */
export function axisRuleOf(expr: Expr, types: TypeInference): AxisRule | undefined {
  if (!isOperatorCall(expr) || expr.onDevice !== undefined) return undefined;
  const type = tensorTypeOf(expr, types);
  const operands = expr.args.map((arg) => tensorTypeOf(arg, types));
  const rank = type?.shape.length;
  if (rank === undefined || operands.length === 0) return undefined;
  const { name } = expr.callee;
  const ranks = operands.map((operand) => operand?.shape.length);
  const rule = RULES[name];
  if (rule === undefined) {
    const op = types.operators.get(name);
    // The bits of an element may be those of several.
    if (op?.kind !== 'elementwise' || name === 'bitcast') return undefined;
    return ranks.every((other) => other !== undefined && other <= rank) ? ALIGNED : undefined;
  }
  if (rule === REDUCTION && expr.attributes['keepdims'] !== true) return undefined;
  if (name === 'gather' && ranks[1] !== 1) return undefined;
  const alike = rule.operands === 'all' ? ranks : ranks.slice(0, 1);
  return alike.every((other) => other === rank) ? rule : undefined;
}

/** The call with other operands, for a result whose axes are permuted. */
export function permutedCall(
  call: OperatorCall,
  { args, perm, types }: { args: readonly Expr[]; perm: Permutation; types: TypeInference },
): Expr {
  const rule = axisRuleOf(call, types);
  const op = types.operators.require(call.callee.name);
  const attributes = rule?.attributes(completeAttributes(op, call.attributes), perm);
  const isSame = rule === ALIGNED || attributes === undefined;
  return { ...call, args, attributes: isSame ? call.attributes : attributes };
}

/** Axes of a reduction of a tensor, of which none stand for all. */
function axesOf(attributes: Attributes, rank: number): readonly number[] {
  const given = intsAttribute(attributes, 'axes');
  if (given.length === 0) return Array.from({ length: rank }, (_, i) => i);
  return given.map((at) => normalizeAxis(at, rank, 'axes'));
}

/**
 * The axes of a reduction that drops them, over an operand whose axes are permuted; undefined where the axes that
 * are left would come in another order.
 */
export function droppedAxes(
  call: OperatorCall,
  perm: Permutation,
  types: TypeInference,
): Attributes | undefined {
  const op = types.operators.require(call.callee.name);
  const attributes = completeAttributes(op, call.attributes);
  const dropped = axesOf(attributes, perm.length);
  const left = perm.filter((at) => !dropped.includes(at));
  return left.every((at, i) => i === 0 || at > (left[i - 1] ?? at))
    ? axes(attributes, perm)
    : undefined;
}

/** Returns true for a reduction that drops its axes. */
export function dropsAxes(expr: Expr): boolean {
  if (!isOperatorCall(expr) || expr.onDevice !== undefined) return false;
  return RULES[expr.callee.name] === REDUCTION && expr.attributes['keepdims'] !== true;
}
