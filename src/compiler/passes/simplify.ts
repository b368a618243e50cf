import { proveEqual } from '../../core/dim-algebra.ts';
import type { DType } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { AttributeValue } from '../../core/primitive-function.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/small-floats.ts';
import { call } from '../ir/build.ts';
import type { CallExpr, Expr } from '../ir/expr.ts';
import { rewriteBodies } from '../ir/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import type { Pass } from './pass.ts';
import { poolOfPadded } from './pool-of-padded.ts';

/** One rewrite of a call of `op`: the replacement, or undefined where the rule does not apply. */
interface Rule {
  readonly op: string;
  readonly title: string;
  apply(expr: CallExpr, types: TypeInference): Expr | undefined;
}

const RULES: readonly Rule[] = [
  { op: 'add', title: 'x + 0 = x', apply: (e, t) => neutral(e, t, { value: 0, side: 'both' }) },
  { op: 'sub', title: 'x - 0 = x', apply: (e, t) => neutral(e, t, { value: 0, side: 'right' }) },
  { op: 'mul', title: 'x * 1 = x', apply: (e, t) => neutral(e, t, { value: 1, side: 'both' }) },
  { op: 'div', title: 'x / 1 = x', apply: (e, t) => neutral(e, t, { value: 1, side: 'right' }) },
  { op: 'pow', title: 'x ** 1 = x', apply: (e, t) => neutral(e, t, { value: 1, side: 'right' }) },
  { op: 'pow', title: 'x ** 2 = x * x', apply: square },
  { op: 'neg', title: '-(-x) = x', apply: (e) => innerCall(e, 'neg')?.args[0] },
  { op: 'logical_not', title: '!!x = x', apply: (e) => innerCall(e, 'logical_not')?.args[0] },
  { op: 'relu', title: 'relu(relu(x)) = relu(x)', apply: (e) => innerCall(e, 'relu') },
  { op: 'abs', title: 'abs(abs(x)) = abs(x)', apply: (e) => innerCall(e, 'abs') },
  { op: 'floor', title: 'floor(floor(x)) = floor(x)', apply: (e) => innerCall(e, 'floor') },
  { op: 'cast', title: 'cast to the same dtype', apply: sameTypeAsArgument },
  { op: 'cast', title: 'cast of a cast that loses nothing', apply: castOfWideningCast },
  { op: 'reshape', title: 'reshape to the same shape', apply: sameTypeAsArgument },
  { op: 'reshape', title: 'reshape of reshape', apply: reshapeOfReshape },
  { op: 'broadcast_to', title: 'broadcast to the same shape', apply: sameTypeAsArgument },
  {
    op: 'pad',
    title: 'pad by nothing',
    apply: (e) => (allEqual(e, 'pads', 0) ? e.args[0] : undefined),
  },
  { op: 'slice', title: 'slice of everything', apply: wholeSlice },
  {
    op: 'concat',
    title: 'concat of one',
    apply: (e) => (e.args.length === 1 ? e.args[0] : undefined),
  },
  { op: 'concat', title: 'concat of more than a kernel binds', apply: concatInParts },
  { op: 'max_pool', title: 'max_pool of what was padded by nothing', apply: poolOfPadded },
  { op: 'transpose', title: 'transpose of transpose', apply: transposeOfTranspose },
  { op: 'transpose', title: 'transpose that moves nothing', apply: identityTranspose },
];

const RULES_BY_OP = new Map<string, Rule[]>();
for (const rule of RULES) RULES_BY_OP.set(rule.op, [...(RULES_BY_OP.get(rule.op) ?? []), rule]);

/** Algebraic identities and moves of data that cancel out, by a table of rules. */
export const simplify: Pass = {
  name: 'simplify',
  run(module, { types }) {
    return rewriteBodies(module, (expr) => simplifyCall(expr, types));
  },
};

/** Applies rules until none applies. Each leaves fewer calls or fewer arguments, so this ends. */
function simplifyCall(expr: Expr, types: TypeInference): Expr {
  let current = expr;
  for (;;) {
    const next = applyRules(current, types);
    if (next === undefined) return current;
    current = next;
  }
}

function applyRules(expr: Expr, types: TypeInference): Expr | undefined {
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return undefined;
  for (const rule of RULES_BY_OP.get(expr.callee.name) ?? []) {
    const result = rule.apply(expr, types);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** A kernel binds eight tensors on every adapter, one of them its result. */
const MAX_PARTS = 7;

function concatInParts({ args, attributes, span }: CallExpr): Expr | undefined {
  if (new Set(args).size <= MAX_PARTS) return undefined;
  const parts: Expr[] = [];
  for (let i = 0; i < args.length; i += MAX_PARTS) {
    const some = args.slice(i, i + MAX_PARTS);
    const [first] = some;
    const isOne = some.length === 1 && first !== undefined;
    parts.push(isOne ? first : call('concat', some, attributes, span));
  }
  return call('concat', parts, attributes, span);
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

function castOfWideningCast(expr: CallExpr, types: TypeInference): Expr | undefined {
  const inner = innerCall(expr, 'cast');
  const x = inner?.args[0];
  if (inner === undefined || x === undefined) return undefined;
  const [from, between] = [types.of(x), types.of(inner)];
  if (from.kind !== 'tensor' || between.kind !== 'tensor') return undefined;
  if (WIDENINGS[from.dtype]?.includes(between.dtype) !== true) return undefined;
  return call('cast', [x], expr.attributes, expr.span);
}

/** The other operand when one is the neutral constant and broadcasting changes nothing. */
function neutral(
  expr: CallExpr,
  types: TypeInference,
  { value, side }: { value: number; side: 'right' | 'both' },
): Expr | undefined {
  const [left, right] = expr.args;
  if (left === undefined || right === undefined) return undefined;
  const candidates: [Expr, Expr][] =
    side === 'both'
      ? [
          [left, right],
          [right, left],
        ]
      : [[left, right]];
  for (const [kept, dropped] of candidates) {
    if (dropped.kind !== 'constant' || !isFilledWith(dropped.value, value)) continue;
    if (sameShape(kept, expr, types)) return kept;
  }
  return undefined;
}

/** A product takes a thirtieth of the instructions. Doubles may be rounded in another way. */
function square(expr: CallExpr, types: TypeInference): Expr | undefined {
  const x = neutral(expr, types, { value: 2, side: 'right' });
  const type = x && types.of(x);
  if (x === undefined || type?.kind !== 'tensor' || type.dtype === 'float64') return undefined;
  const { callee, args } = call('mul', [x, x]);
  return { ...expr, callee, args };
}

/** Looks only at splats and at single elements: larger constants are seldom neutral. */
function isFilledWith(tensor: HostTensor, value: number): boolean {
  if (!tensor.isSplat && tensor.elementCount !== 1) return false;
  const element = tensor.elements[0];
  if (element === undefined) return false;
  const { dtype } = tensor;
  const number = isSmallFloat(dtype) ? smallFloatToNumber(dtype, Number(element)) : Number(element);
  // Adding +0 turns -0 into +0: the one place where these rules may change a sign of zero.
  return number === value;
}

/** The argument when it is a call of `op`. */
function innerCall(expr: CallExpr, op: string): CallExpr | undefined {
  const inner = expr.args[0];
  return inner?.kind === 'call' && inner.callee.kind === 'operator' && inner.callee.name === op
    ? inner
    : undefined;
}

function sameTypeAsArgument(expr: CallExpr, types: TypeInference): Expr | undefined {
  const arg = expr.args[0];
  if (arg === undefined) return undefined;
  return dtypeOf(arg, types) === dtypeOf(expr, types) && sameShape(arg, expr, types)
    ? arg
    : undefined;
}

/** Whether two tensors certainly have the same shape. */
function sameShape(a: Expr, b: Expr, types: TypeInference): boolean {
  const [from, to] = [types.of(a), types.of(b)];
  if (from.kind !== 'tensor' || to.kind !== 'tensor') return false;
  return (
    from.shape.length === to.shape.length &&
    from.shape.every((dim, axis) => proveEqual(dim, to.shape[axis] ?? '?'))
  );
}

function dtypeOf(expr: Expr, types: TypeInference): DType | undefined {
  const type = types.of(expr);
  return type.kind === 'tensor' ? type.dtype : undefined;
}

function reshapeOfReshape(expr: CallExpr, types: TypeInference): Expr | undefined {
  const source = innerCall(expr, 'reshape')?.args[0];
  const type = types.of(expr);
  return source === undefined || type.kind !== 'tensor'
    ? undefined
    : call('reshape', [source], { shape: type.shape }, expr.span);
}

function ints(value: AttributeValue | undefined): readonly number[] | undefined {
  return Array.isArray(value) ? value.map(Number) : undefined;
}

function allEqual(expr: CallExpr, attribute: string, value: number): boolean {
  return ints(expr.attributes[attribute])?.every((item) => item === value) ?? false;
}

function wholeSlice(expr: CallExpr, types: TypeInference): Expr | undefined {
  return allEqual(expr, 'steps', 1) ? sameTypeAsArgument(expr, types) : undefined;
}

function transposeOfTranspose(expr: CallExpr): Expr | undefined {
  const inner = innerCall(expr, 'transpose');
  const source = inner?.args[0];
  const first = ints(inner?.attributes['perm']);
  const second = ints(expr.attributes['perm']);
  if (source === undefined || first === undefined || second === undefined) return undefined;
  const perm = second.map((axis) => first[axis] ?? axis);
  return call('transpose', [source], { perm }, expr.span);
}

function identityTranspose(expr: CallExpr): Expr | undefined {
  const perm = ints(expr.attributes['perm']);
  return perm?.every((axis, i) => axis === i) ? expr.args[0] : undefined;
}
