import type { Attributes } from '../../core/primitive-function.ts';
import { call } from '../ir/build.ts';
import type { CallExpr, Expr } from '../ir/expr.ts';
import { operatorCall } from '../ir/operator-call.ts';

/** Operators whose results are not negative; NaN may be among them. */
const NON_NEGATIVE = new Set(['relu', 'sigmoid', 'exp', 'abs', 'sqrt']);

/** Operators whose results are not negative where the operands are not. */
const KEEPING_SIGNS = new Set(['concat', 'max_pool', 'avg_pool', 'reshape', 'transpose', 'slice']);

/** So many expressions are looked at to see that a value is not negative. */
const MAX_VISITED = 64;

/**
 * The greatest of windows in what was padded apart, as exporters write whose framework has other sizes.
 * Pooling pads by nothing at all; as good are -Infinity, and where no element is negative, any number
 * up to zero.
 */
export function poolOfPadded(pool: CallExpr): Expr | undefined {
  const padding = operatorCall(pool.args[0], 'pad');
  const x = padding?.args[0];
  if (padding === undefined || x === undefined) return undefined;
  const pads = joinedPads(pool.attributes, padding.attributes);
  if (pads === undefined) return undefined;
  const { value = 0 } = padding.attributes;
  const isNothing = value === -Infinity || (Number(value) <= 0 && isNonNegative(x));
  if (!isNothing) return undefined;
  return call('max_pool', [x], { ...pool.attributes, pads }, pool.span);
}

/** The pads of both; undefined where a window might see nothing but padding. */
function joinedPads(pool: Attributes, padding: Attributes): number[] | undefined {
  const { mode = 'constant' } = padding;
  if (mode !== 'constant' || pool['ceil_mode'] === true) return undefined;
  if (numbersOf(pool['dilations']).some((dilation) => dilation !== 1)) return undefined;
  const [kernel, own, added] = [pool['kernel'], pool['pads'], padding['pads']].map(numbersOf);
  const axes = kernel?.length ?? 0;
  const rank = axes + 2;
  if (added?.length !== 2 * rank || added.some((count) => !(count >= 0))) return undefined;
  const [before, after] = [added.slice(0, rank), added.slice(rank)];
  if ([...before.slice(0, 2), ...after.slice(0, 2)].some((count) => count !== 0)) return undefined;
  const pads = [...before.slice(2), ...after.slice(2)].map((count, i) => count + (own?.[i] ?? 0));
  return pads.every((count, i) => count < (kernel?.[i % axes] ?? 0)) ? pads : undefined;
}

/** Numbers of an attribute; NaN for symbols. */
function numbersOf(value: Attributes[string] | undefined): number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

function isNonNegative(value: Expr): boolean {
  const work = [value];
  const seen = new Set(work);
  for (let expr = work.pop(); expr !== undefined; expr = work.pop()) {
    if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return false;
    const { name } = expr.callee;
    if (NON_NEGATIVE.has(name) || (name === 'clip' && Number(expr.attributes['min']) >= 0))
      continue;
    if (!KEEPING_SIGNS.has(name)) return false;
    for (const arg of expr.args) {
      if (seen.has(arg)) continue;
      if (seen.add(arg).size > MAX_VISITED) return false;
      work.push(arg);
    }
  }
  return true;
}
