import { call } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import { isOperatorCall } from '../../ir/operators/operator-name.ts';
import type { Captures } from '../../rewriting/captures.ts';
import { any, calls } from '../../rewriting/expr-pattern.ts';
import type { RewriteRule } from '../../rewriting/rewrite-rule.ts';

/** Operators whose results are not negative; NaN may be among them. */
const NON_NEGATIVE = new Set(['relu', 'sigmoid', 'exp', 'abs', 'sqrt']);

/** Operators whose results are not negative where the operands are not. */
const KEEPING_SIGNS = new Set(['concat', 'max_pool', 'avg_pool', 'reshape', 'transpose', 'slice']);

/** So many expressions are looked at to see that a value is not negative. */
const MAX_VISITED = 64;

/** Pads may be symbolic: these are no numbers, and no rule applies. */
const PADDED = calls('pad', [any('x')], {
  attributes: {
    pads: { name: 'added' },
    mode: { oneOf: ['constant'], isOptional: true },
    value: { name: 'value', isOptional: true },
  },
});

/** A pool that counts windows from the front and has none with gaps. */
const POOL = calls('max_pool', [PADDED], {
  attributes: {
    kernel: { name: 'kernel' },
    pads: { name: 'pads', isOptional: true },
    ceil_mode: { oneOf: [false], isOptional: true },
    dilations: { every: 1, isOptional: true },
  },
});

/** Pools of what was padded apart, as exporters write whose framework has other sizes. */
export const POOLS_OF_PADDED: readonly RewriteRule[] = [
  {
    name: 'max_pool of what was padded by nothing',
    explains:
      'Pooling pads by nothing at all; as good are -Infinity and, where no element is negative, any number up to zero.',
    pattern: POOL,
    replace: poolOfPadded,
  },
];

function poolOfPadded(captures: Captures): Expr | undefined {
  const x = captures.get('x');
  const pads = joinedPads(captures);
  if (pads === undefined) return undefined;
  const value = captures.attribute('value') ?? 0;
  const isNothing = value === -Infinity || (Number(value) <= 0 && isNonNegative(x));
  if (!isNothing) return undefined;
  return call('max_pool', [x], { ...captures.root.attributes, pads });
}

/** The pads of both; undefined where a window might see nothing but padding. */
function joinedPads(captures: Captures): number[] | undefined {
  const [kernel, own, added] = ['kernel', 'pads', 'added'].map((name) => captures.integers(name));
  const axes = kernel?.length ?? 0;
  const rank = axes + 2;
  if (added?.length !== 2 * rank || added.some((count) => !(count >= 0))) return undefined;
  const [before, after] = [added.slice(0, rank), added.slice(rank)];
  if ([...before.slice(0, 2), ...after.slice(0, 2)].some((count) => count !== 0)) return undefined;
  const pads = [...before.slice(2), ...after.slice(2)].map((count, i) => count + (own?.[i] ?? 0));
  return pads.every((count, i) => count < (kernel?.[i % axes] ?? 0)) ? pads : undefined;
}

function isNonNegative(value: Expr): boolean {
  const work = [value];
  const seen = new Set(work);
  for (let expr = work.pop(); expr !== undefined; expr = work.pop()) {
    if (!isOperatorCall(expr)) return false;
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
