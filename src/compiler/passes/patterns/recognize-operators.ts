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
import { SLICE_UPDATES } from './slice-update-pattern.ts';

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
