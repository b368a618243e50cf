import type { DType } from '../../core/dtype.ts';
import { call } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import type { Captures } from '../rewriting/captures.ts';
import { any, calls, commutes, type ExprPattern, filled } from '../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../rewriting/has-types.ts';
import { rewriteModule } from '../rewriting/rewrite-module.ts';
import type { RewriteContext, RewriteRule } from '../rewriting/rewrite-rule.ts';
import type { Pass } from './pass.ts';
import { POOLS_OF_PADDED } from './pool-of-padded.ts';

const X = any('x');
const x = (captures: Captures): Expr => captures.get('x');

/** The operand that a call gives back as it is, where broadcasting does not change it. */
function neutral(name: string, pattern: ExprPattern): RewriteRule {
  return { name, pattern, types: { x: { shapeOf: 'root' } }, replace: x };
}

/** The operand of a call that gives its type, of which the value is the same then. */
function unchanged(name: string, pattern: ExprPattern): RewriteRule {
  return { name, pattern, types: { x: { dtypeOf: 'root', shapeOf: 'root' } }, replace: x };
}

/** The first of two calls of an operator that does nothing the second time. */
function idempotent(op: string): RewriteRule {
  return {
    name: `${op}(${op}(x)) = ${op}(x)`,
    pattern: calls(op, [calls(op, [X], { name: 'inner' })]),
    replace: (captures) => captures.get('inner'),
  };
}

// Adding +0 turns -0 into +0: the one place where these rules may change a sign of zero.
const ZERO = filled({ equal: 0 });
const ONE = filled({ equal: 1 });

const RULES: readonly RewriteRule[] = [
  neutral('x + 0 = x', commutes('add', [X, ZERO])),
  neutral('x - 0 = x', calls('sub', [X, ZERO])),
  neutral('x * 1 = x', commutes('mul', [X, ONE])),
  neutral('x / 1 = x', calls('div', [X, ONE])),
  neutral('x ** 1 = x', calls('pow', [X, ONE])),
  {
    name: 'x ** 2 = x * x',
    explains:
      'A product takes a thirtieth of the instructions. Doubles may be rounded differently.',
    pattern: calls('pow', [X, filled({ equal: 2 })]),
    types: { x: { shapeOf: 'root' } },
    replace: square,
  },
  { name: '-(-x) = x', pattern: calls('neg', [calls('neg', [X])]), replace: x },
  {
    name: '!!x = x',
    pattern: calls('logical_not', [calls('logical_not', [X])]),
    replace: x,
  },
  idempotent('relu'),
  idempotent('abs'),
  idempotent('floor'),
  unchanged('cast to the same dtype', calls('cast', [X])),
  {
    name: 'cast of a cast that loses nothing',
    pattern: calls('cast', [calls('cast', [X], { name: 'inner' })]),
    replace: castOfWideningCast,
  },
  unchanged('reshape to the same shape', calls('reshape', [X])),
  {
    name: 'reshape of reshape',
    pattern: calls('reshape', [calls('reshape', [X])]),
    replace: reshapeOfReshape,
  },
  unchanged('broadcast to the same shape', calls('broadcast_to', [X])),
  {
    name: 'pad by nothing',
    pattern: calls('pad', [X], { attributes: { pads: { every: 0 } } }),
    replace: x,
  },
  unchanged('slice of everything', calls('slice', [X], { attributes: { steps: { every: 1 } } })),
  { name: 'concat of one', pattern: calls('concat', [X]), replace: x },
  {
    name: 'concat of more than a kernel binds',
    pattern: calls('concat', [X], { isVariadic: true }),
    replace: concatInParts,
  },
  ...POOLS_OF_PADDED,
  {
    name: 'transpose of transpose',
    pattern: calls(
      'transpose',
      [calls('transpose', [X], { attributes: { perm: { name: 'first' } } })],
      { attributes: { perm: { name: 'second' } } },
    ),
    replace: transposeOfTranspose,
  },
  {
    name: 'transpose that moves nothing',
    pattern: calls('transpose', [X], { attributes: { perm: { name: 'perm' } } }),
    replace: (captures) =>
      captures.integers('perm').every((axis, i) => axis === i) ? x(captures) : undefined,
  },
];

/** Algebraic identities and moves of data that cancel out. */
export const simplify: Pass = {
  name: 'simplify',
  rules: RULES,
  run: (module, context) => rewriteModule(module, RULES, context),
};

function square(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const factor = x(captures);
  if (tensorTypeOf(factor, types)?.dtype === 'float64') return undefined;
  const { callee, args } = call('mul', [factor, factor]);
  return { ...captures.root, callee, args };
}

/** dtypes that hold every value of a dtype and convert it on as that dtype would be. */
const WIDENINGS: Partial<Record<DType, readonly DType[]>> = {
  float16: ['float32', 'float64'],
  float32: ['float64'],
  int8: ['int16', 'int32', 'int64'],
  int16: ['int32', 'int64'],
  int32: ['int64'],
  uint8: ['uint16', 'uint32', 'uint64', 'int16', 'int32', 'int64'],
  uint16: ['uint32', 'uint64', 'int32', 'int64'],
  uint32: ['uint64', 'int64'],
};

function castOfWideningCast(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const from = tensorTypeOf(x(captures), types);
  const between = tensorTypeOf(captures.get('inner'), types);
  if (from === undefined || between === undefined) return undefined;
  if (WIDENINGS[from.dtype]?.includes(between.dtype) !== true) return undefined;
  return call('cast', [x(captures)], captures.root.attributes);
}

function reshapeOfReshape(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const type = tensorTypeOf(captures.root, types);
  return type && call('reshape', [x(captures)], { shape: type.shape });
}

/** A kernel binds eight tensors on every adapter, one of them its result. */
const MAX_PARTS = 7;

function concatInParts({ root: { args, attributes } }: Captures): Expr | undefined {
  if (new Set(args).size <= MAX_PARTS) return undefined;
  const parts: Expr[] = [];
  for (let i = 0; i < args.length; i += MAX_PARTS) {
    const some = args.slice(i, i + MAX_PARTS);
    const [first] = some;
    const isOne = some.length === 1 && first !== undefined;
    parts.push(isOne ? first : call('concat', some, attributes));
  }
  return call('concat', parts, attributes);
}

function transposeOfTranspose(captures: Captures): Expr {
  const first = captures.integers('first');
  const perm = captures.integers('second').map((axis) => first[axis] ?? axis);
  return call('transpose', [x(captures)], { perm });
}
