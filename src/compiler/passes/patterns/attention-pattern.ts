import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { call, constant } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import { isOperatorCall } from '../../ir/operators/operator-name.ts';
import type { Captures } from '../../rewriting/captures.ts';
import {
  any,
  calls,
  commutes,
  either,
  type ExprPattern,
  once,
  single,
} from '../../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import type { RewriteContext, RewriteRule } from '../../rewriting/rewrite-rule.ts';

/** A value, or it by a number or divided by one, each way with a wrapping of its own. */
function scaled(
  pattern: ExprPattern,
  name: string,
  wrap: (scaled: ReturnType<typeof calls>) => ExprPattern = (it) => it,
): ExprPattern {
  return either(
    wrap(commutes('mul', [pattern, single(undefined, `${name} factor`)])),
    wrap(calls('div', [pattern, single(undefined, `${name} divisor`)])),
    pattern,
  );
}

/** Keys lie (batch, heads, size, keys) or in any other order. */
const KEYS = calls('transpose', [any('key')], {
  attributes: { perm: { name: 'perm' } },
  name: 'keys',
});

const PRODUCTS = once(calls('matmul', [any('query'), scaled(KEYS, 'key')]));
const SCORES = scaled(PRODUCTS, 'score', once);

/** Beside a number this low a score is lost. */
const MASKED = single({ atMost: -1e30 }, 'masked');

const BIASED = either(
  SCORES,
  once(commutes('add', [SCORES, any('bias')])),
  once(calls('where', [any('seen'), SCORES, MASKED], { name: 'where' })),
  once(calls('where', [any('hidden'), MASKED, SCORES], { name: 'where' })),
);

const WEIGHTS = calls('softmax', [BIASED], {
  attributes: { axis: { oneOf: [-1, 3], isOptional: true } },
  name: 'weights',
});

/** Kernels compute in float32 inside, where products of float16 may be larger than float16 holds. */
const OPERAND = { dtypes: ['float32', 'float16'], rank: 4 } as const;

/** Attention of four axes whose queries, keys and values have the batches and heads of the scores. */
export const ATTENTION: readonly RewriteRule[] = [
  {
    name: 'attention spelled out',
    explains:
      'A product with transposed keys, scaled before or behind, with a bias or not, softmax along keys, and a product with values. Nothing else may read what lies between, which the operator has no memory for.',
    pattern: calls('matmul', [once(WEIGHTS), any('value')]),
    types: { weights: OPERAND, query: OPERAND, keys: OPERAND, value: OPERAND },
    // Rows of -Infinity, which softmax makes NaN of, are zeros in attention.
    definesNaN: true,
    replace: attention,
  },
];

function attention(captures: Captures, context: RewriteContext): Expr | undefined {
  const weights = tensorTypeOf(captures.get('weights'), context.types);
  const [query, value] = ['query', 'value'].map((name) => captures.get(name));
  if (weights === undefined || query === undefined || value === undefined) return undefined;
  const isSameAt = (name: string, axes: readonly number[]): boolean =>
    hasSizes(tensorTypeOf(captures.get(name), context.types), weights, axes);
  const isWhole =
    isSameAt('query', [0, 1, 2]) && isSameAt('keys', [0, 1, 3]) && isSameAt('value', [0, 1]);
  if (!isWhole) return undefined;
  const bias = captures.find('bias') ?? maskBias(captures, context);
  const [key, values] = withoutRepeats([keysOf(captures), value], context);
  const args = [query, key, values, ...(bias === undefined ? [] : [bias])];
  const scale = scaleOf(captures, 'score') * scaleOf(captures, 'key');
  return call('scaled_dot_product_attention', args, { scale });
}

/** Returns true if the type has the sizes of the scores along these axes: nothing is broadcast. */
function hasSizes(
  type: TensorType | undefined,
  { shape }: TensorType,
  axes: readonly number[],
): boolean {
  return axes.every((axis) => JSON.stringify(type?.shape[axis]) === JSON.stringify(shape[axis]));
}

function keysOf(captures: Captures): Expr {
  const key = captures.get('key');
  const [batch = 0, heads = 0, size = 0, positions = 0] = captures.integers('perm');
  const perm = [batch, heads, positions, size];
  const isSame = perm.every((from, to) => from === to);
  return isSame ? key : call('transpose', [key], { perm });
}

/** Keys and values whose heads were repeated for groups of heads of queries, which the operator does itself. */
function withoutRepeats(
  [key, value]: readonly [Expr, Expr],
  context: RewriteContext,
): readonly [Expr, Expr] {
  const [keys, values] = [key, value].map((expr) => repeatedHeads(expr, context));
  const isRepeated = keys !== undefined && keys.count === values?.count;
  return isRepeated ? [keys.heads, values.heads] : [key, value];
}

interface RepeatedHeads {
  readonly heads: Expr;
  readonly count: number;
}

/**
 * Finds the (b, heads, n, m) of which `expr` is the (b, heads * count, n, m): reshaped to (b,
 * heads, 1, n, m) and broadcast along the third axis.
 */
function repeatedHeads(expr: Expr, { types }: RewriteContext): RepeatedHeads | undefined {
  const repeated = operandOf(expr, 'reshape');
  const one = repeated && operandOf(repeated, 'broadcast_to');
  if (repeated === undefined || one === undefined) return undefined;
  const [all, many, single] = [expr, repeated, one].map((of) => tensorTypeOf(of, types)?.shape);
  const [batch = 0, heads = 0, count, ...rest] = many ?? [];
  if (typeof heads !== 'number' || typeof count !== 'number' || rest.length !== 2) return undefined;
  const shape = [batch, heads, ...rest];
  const isRepeat =
    JSON.stringify(all) === JSON.stringify([batch, heads * count, ...rest]) &&
    JSON.stringify(single) === JSON.stringify([batch, heads, 1, ...rest]);
  if (!isRepeat) return undefined;
  const before = operandOf(one, 'reshape');
  const given = before && tensorTypeOf(before, types)?.shape;
  const isGiven = before !== undefined && JSON.stringify(given) === JSON.stringify(shape);
  return { heads: isGiven ? before : call('reshape', [one], { shape }), count };
}

function operandOf(expr: Expr, operator: string): Expr | undefined {
  const isCall = isOperatorCall(expr);
  return isCall && expr.callee.name === operator ? expr.args[0] : undefined;
}

function scaleOf(captures: Captures, name: string): number {
  const divisor = captures.number(`${name} divisor`);
  return divisor === undefined ? (captures.number(`${name} factor`) ?? 1) : 1 / divisor;
}

/** 0 in place of scores: what is added to a score replaces it where it is masked. */
function maskBias(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const [where, seen, hidden, masked] = ['where', 'seen', 'hidden', 'masked'].map((name) =>
    captures.find(name),
  );
  const condition = seen ?? hidden;
  if (where?.kind !== 'call' || condition === undefined || masked === undefined) return undefined;
  const dtype = tensorTypeOf(masked, types)?.dtype ?? 'float32';
  const zero = constant(HostTensor.from(dtype, [], [0]));
  const choices = seen === undefined ? [masked, zero] : [zero, masked];
  return call('where', [condition, ...choices], {}, where.span);
}
