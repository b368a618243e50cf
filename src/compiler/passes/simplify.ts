import { MOST_JOINED } from '../../ops/movement/concat.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { call } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import type { Captures } from '../rewriting/captures.ts';
import { any, calls } from '../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../rewriting/has-types.ts';
import { parseRules } from '../rewriting/parse-rules.ts';
import { rewriteModule } from '../rewriting/rewrite-module.ts';
import type { RewriteContext, RewriteRule } from '../rewriting/rewrite-rule.ts';
import type { Pass } from './pass.ts';
import { POOLS_OF_PADDED } from './patterns/pool-of-padded.ts';
import { TRANSPOSED_CONVOLUTIONS } from './patterns/transposed-convolution.ts';

/**
 * The rules that need no code. Adding +0 turns -0 into +0: the one place where these rules may change a
 * sign of zero. Constants may broadcast %x, so that these rules ask for its shape. A product takes
 * a thirtieth of the instructions of a power; doubles may be rounded differently.
 */
const TEXT = `
"x + 0 = x": commutes(add(%x, 0)) => %x where shape(%x) == shape(%root);
"x - 0 = x": sub(%x, 0) => %x where shape(%x) == shape(%root);
"x * 1 = x": commutes(mul(%x, 1)) => %x where shape(%x) == shape(%root);
"x / 1 = x": div(%x, 1) => %x where shape(%x) == shape(%root);
"x ** 1 = x": pow(%x, 1) => %x where shape(%x) == shape(%root);
"x ** 2 = x * x":
  pow(%x, 2) => mul(%x, %x)
  where shape(%x) == shape(%root), dtype(%x) in (float32, float16, bfloat16,
    int8, uint8, int16, uint16, int32, uint32, int64, uint64);
neg(neg(%x)) => %x;
logical_not(logical_not(%x)) => %x;
relu(%inner = relu(%x)) => %inner;
abs(%inner = abs(%x)) => %inner;
floor(%inner = floor(%x)) => %inner;
"cast to the same dtype": cast(%x) => %x where dtype(%x) == dtype(%root);
"reshape to the same shape": reshape(%x) => %x where shape(%x) == shape(%root);
"reshape of reshape": reshape(reshape(%x)) => reshape(%x, shape=shape(%root));
"broadcast to the same shape": broadcast_to(%x) => %x where shape(%x) == shape(%root);
"pad by nothing": pad(%x, pads=every(0)) => %x;
"slice of everything": slice(%x, steps=every(1)) => %x where shape(%x) == shape(%root);
concat(%x) => %x;
"one of two that are the same": where(%c, %x, %x) => %x where shape(%x) == shape(%root);
`;

const X = any('x');
const x = (captures: Captures): Expr => captures.get('x');

/** The rules that compute what they replace with. */
const CODED: readonly RewriteRule[] = [
  {
    name: 'cast of a cast that loses nothing',
    pattern: calls('cast', [calls('cast', [X], { name: 'inner' })]),
    replace: castOfWideningCast,
  },
  {
    name: 'concat of more than a kernel binds',
    pattern: calls('concat', [X], { isVariadic: true }),
    replace: concatInParts,
  },
  ...POOLS_OF_PADDED,
  ...TRANSPOSED_CONVOLUTIONS,
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

/** Of a text that never changes. */
let rules: readonly RewriteRule[] | undefined;

/** Algebraic identities and moves of data that cancel out. */
export const simplify: Pass = {
  name: 'simplify',
  /** Read once, when they are first needed. */
  get rules() {
    rules ??= [...parseRules(TEXT, { file: 'simplify' }), ...CODED];
    return rules;
  },
  run: (module, context) => rewriteModule(module, simplify.rules ?? [], context),
};

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

function concatInParts({ root: { args, attributes } }: Captures): Expr | undefined {
  if (new Set(args).size <= MOST_JOINED) return undefined;
  const parts: Expr[] = [];
  for (let i = 0; i < args.length; i += MOST_JOINED) {
    const some = args.slice(i, i + MOST_JOINED);
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
