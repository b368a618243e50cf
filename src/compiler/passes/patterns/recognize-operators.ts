import { call } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import type { Captures } from '../../rewriting/captures.ts';
import {
  any,
  anyOrder,
  calls,
  commutes,
  either,
  type ExprPattern,
  single,
} from '../../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { rewriteModule } from '../../rewriting/rewrite-module.ts';
import type { RewriteContext, RewriteRule } from '../../rewriting/rewrite-rule.ts';
import { ATTENTION } from './attention-pattern.ts';
import type { Pass } from '../pass.ts';
import { proveEqual } from '../../../core/dims/dim-algebra.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../../core/tensor/shape.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';

const ROWS = any('rows');
const BEFORE = part('before');
const BEHIND = part('behind');

/** A slice of the tensor that is updated. */
function part(name: string): ExprPattern {
  const steps = { every: 1, isOptional: true } as const;
  return calls('slice', [any('x')], {
    name,
    attributes: { starts: { name: `from ${name}` }, steps },
  });
}

/** Rows between what lies before and behind them in a tensor, or at an end of it. */
const SLICE_UPDATES: readonly RewriteRule[] = [
  sliceUpdate('slice update', [BEFORE, ROWS, BEHIND]),
  sliceUpdate('slice update at the begin', [ROWS, BEHIND]),
  sliceUpdate('slice update at the end', [BEFORE, ROWS]),
];

function sliceUpdate(name: string, parts: readonly ExprPattern[]): RewriteRule {
  return {
    name,
    explains: 'A tensor from outside of kernels may be a state, which is overwritten.',
    pattern: calls('concat', parts, { attributes: { axis: { name: 'axis' } } }),
    replace: updatedSlice,
  };
}

function updatedSlice(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const typeOf = (name: string): TensorType | undefined => {
    const expr = captures.find(name);
    return expr && tensorTypeOf(expr, types);
  };
  const [x, rows, root] = [typeOf('x'), typeOf('rows'), typeOf('root')];
  const [given, updates] = [captures.get('x'), captures.get('rows')];
  if (!(x && rows && root && isGiven(given))) return undefined;
  // Elements of a tensor in another order, such as those of an image whose edges are repeated, are read once.
  if (updates.kind === 'call' && operatorName(updates) === 'slice' && updates.args[0] === given) {
    return undefined;
  }
  const { shape } = x;
  const axis = normalizeAxis(Number(captures.attribute('axis')), shape.length, 'concat');
  const begin = typeOf('before')?.shape[axis] ?? 0;
  const end: Dim = { op: 'add', left: begin, right: rows.shape[axis] ?? '?' };
  const startsAt = (name: string, along: Dim): boolean => {
    const starts = captures.attribute(`from ${name}`);
    if (!Array.isArray(starts)) return true;
    return starts.every((start, i) =>
      proveEqual(fromBegin(start, shape[i]), i === axis ? along : 0),
    );
  };
  // Together they are as long as x, so that no slice was cut short.
  const isUpdate =
    isSameShape(root.shape, shape) &&
    isSameShape(rows.shape.with(axis, 1), shape.with(axis, 1)) &&
    startsAt('before', 0) &&
    startsAt('behind', end);
  return isUpdate
    ? scatter({ x: given, updates, shape, rows: rows.shape, axis, begin })
    : undefined;
}

/** A start that counts from the end, from the begin. */
function fromBegin(start: Dim, size: Dim = '?'): Dim {
  return typeof start === 'number' && start < 0 ? { op: 'add', left: size, right: start } : start;
}

function isSameShape(shape: readonly Dim[], other: readonly Dim[]): boolean {
  return (
    shape.length === other.length && shape.every((dim, axis) => proveEqual(dim, other[axis] ?? '?'))
  );
}

/**
 * Returns true for a tensor that no kernel computes and that is no constant, or such a tensor
 * reshaped.
 */
function isGiven(tensor: Expr): boolean {
  let from = tensor;
  while (isOperatorCall(from)) {
    const [operand] = from.args;
    if (from.callee.name !== 'reshape' || operand === undefined) return false;
    from = operand;
  }
  return from.kind !== 'constant';
}

interface Update {
  readonly x: Expr;
  readonly updates: Expr;
  readonly shape: readonly Dim[];
  readonly rows: readonly Dim[];
  readonly axis: number;
  readonly begin: Dim;
}

/** tensor_scatter takes a begin for each slice of the outermost axis, and so not that one. */
function scatter({ x, updates, shape, rows, axis, begin }: Update): Expr {
  if (axis > 0) {
    return call('tensor_scatter', [x, updates, begins(begin, shape[0] ?? 1)], { axis });
  }
  const within = (tensor: Expr, of: readonly Dim[]): Expr =>
    call('reshape', [tensor], { shape: [1, ...of] });
  const inputs = [within(x, shape), within(updates, rows), begins(begin, 1)];
  return call('reshape', [call('tensor_scatter', inputs, { axis: 1 })], { shape });
}

/** The begin for each of some slices. */
function begins(begin: Dim, count: Dim): Expr {
  if (typeof begin === 'number') {
    return call('full', [], { shape: [count], value: begin, dtype: 'int32' });
  }
  const one = call('dims_tensor', [], { dims: [begin] });
  return count === 1 ? one : call('broadcast_to', [one], { shape: [count] });
}

const X = any('x');

/** A mean that keeps the axes it is taken along, which are captured by another name. */
function meanOf(pattern: ExprPattern, axes: string, name?: string): ExprPattern {
  const attributes = { axes: { name: axes }, keepdims: { oneOf: [true] } };
  return calls('reduce_mean', [pattern], { attributes, ...(name === undefined ? {} : { name }) });
}

const MEAN = meanOf(X, 'meanAxes', 'mean');
const CENTERED = calls('sub', [X, MEAN]);
const DIFFERENCE = calls('sub', [X, any('mean')], { name: 'difference' });
const VARIANCE = meanOf(
  either(
    calls('pow', [DIFFERENCE, single({ equal: 2 })]),
    calls('mul', [DIFFERENCE, any('difference')]),
  ),
  'varianceAxes',
);
const DEVIATION = calls('sqrt', [commutes('add', [VARIANCE, single(undefined, 'epsilon')])]);

/** x / sqrt(2) */
const OF_DEVIATION = either(
  calls('div', [X, single({ near: Math.SQRT2 })]),
  commutes('mul', [X, single({ near: Math.SQRT1_2 })]),
);

/** sqrt(2 / pi) * (x + 0.044715 x ** 3) */
const CUBIC = commutes('mul', [
  commutes('add', [
    X,
    commutes('mul', [calls('pow', [X, single({ equal: 3 })]), single({ near: 0.044715 })]),
  ]),
  single({ near: Math.sqrt(2 / Math.PI) }),
]);

/** 0.5 x (1 + y), the factors in any order, as the GELU that an approximation is of. */
function gelu(approximate: string, name: string, y: ExprPattern): RewriteRule {
  const sum = commutes('add', [y, single({ equal: 1 })]);
  return {
    name,
    pattern: anyOrder('mul', [single({ near: 0.5 }), X, sum]),
    types: {
      root: { dtypes: ['float32', 'float16'] },
      x: { dtypes: ['float32', 'float16'], rankOf: 'root' },
    },
    replace: (captures) => call('gelu', [captures.get('x')], { approximate }),
  };
}

const RULES: readonly RewriteRule[] = [
  {
    name: 'layer_norm spelled out',
    explains: '(x - mean(x)) / sqrt(mean((x - mean(x)) ** 2) + epsilon), along the last axis.',
    pattern: calls('div', [CENTERED, DEVIATION]),
    // No constant adds an axis.
    types: { x: { dtypes: ['float32', 'float16'], rankOf: 'root' } },
    replace: layerNorm,
  },
  gelu('none', 'gelu by erf spelled out', calls('erf', [OF_DEVIATION])),
  gelu('tanh', 'gelu by tanh spelled out', calls('tanh', [CUBIC])),
  ...ATTENTION,
  ...SLICE_UPDATES,
];

/**
 * Finds operators that exporters spell out in smaller ones: layer normalisation, GELU, attention. One kernel
 * then does what would take several, for their parts read a value that others read too.
 */
export const recognizeOperators: Pass = {
  name: 'recognize-operators',
  rules: RULES,
  run: (module, context) => rewriteModule(module, RULES, context),
};

function layerNorm(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const x = captures.get('x');
  const last = (tensorTypeOf(x, types)?.shape.length ?? 0) - 1;
  const isLast = ['meanAxes', 'varianceAxes'].every((name) => {
    const [axis, ...others] = captures.integers(name);
    return others.length === 0 && (axis === -1 || axis === last);
  });
  return isLast ? call('layer_norm', [x], { epsilon: captures.number('epsilon') ?? 0 }) : undefined;
}
