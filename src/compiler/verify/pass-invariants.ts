import type { Operators } from '../../ops/operators.ts';
import { isElaborated } from '../inference/elaborate.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Module,
  spanOf,
} from '../ir/expr.ts';
import { VIEW_OPERATOR } from '../ir/host-values.ts';
import { ALLOC_STORAGE, ALLOC_TENSOR } from '../ir/operators/machine-operators.ts';
import { DIM, SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import { postOrder } from '../ir/walk/visit.ts';
import { isOperatorCall } from '../ir/operators/operator-name.ts';
import { isFlatMatch } from '../passes/match/flatten-match.ts';

/** A rule that holds for every module from a pass on. */
interface Invariant {
  /** The pass that makes it true. */
  readonly since: string;
  readonly says: string;
  /** The expression that breaks the rule, of those outside of primitive functions. */
  readonly broken?: (expr: Expr, operators: Operators) => boolean;
  readonly brokenBy?: (module: Module) => boolean;
}

const INVARIANTS: readonly Invariant[] = [
  {
    since: 'infer-types',
    says: 'every variable, result and call has its types',
    brokenBy: (module) => !isElaborated(module),
  },
  {
    since: 'fuse',
    says: 'operators on tensors are called in primitive functions',
    broken: (expr, operators) => isTensorCall(expr, operators),
  },
  {
    since: 'to-anf',
    says: 'operands are atoms',
    broken: (expr) => !operandsOf(expr).every(isAtom),
  },
  {
    since: 'to-anf',
    says: 'no let is the value of another',
    broken: (expr) => expr.kind === 'let' && expr.value.kind === 'let',
  },
  {
    since: 'lower-match',
    says: 'a pattern has one constructor',
    broken: (expr) => expr.kind === 'match' && !isFlatMatch(expr),
  },
  {
    since: 'allocate-adt-tags',
    says: 'every constructor has a tag',
    brokenBy: ({ types }) =>
      [...types.values()].some((type) => type.constructors.some(({ tag }) => tag === undefined)),
  },
  {
    since: 'lambda-lift',
    says: 'functions inside others are primitive',
    broken: (expr) => expr.kind === 'function' && expr.attributes.primitive === undefined,
  },
  {
    since: 'plan-memory',
    says: 'kernels whose result has a known size are called with a destination',
    broken: (expr, operators) =>
      expr.kind === 'call' && expr.callee.kind === 'function' && !isDynamic(expr.callee, operators),
  },
  {
    since: 'lower-shapes',
    says: 'sizes come from the shape heap',
    broken: (expr) => expr.kind === 'call' && needsSize(expr),
  },
];

/** A rule of a finished pass that a module breaks, and where; undefined when there is none. */
export function brokenInvariant(
  module: Module,
  { passes, operators }: { readonly passes: ReadonlySet<string>; readonly operators: Operators },
): string | undefined {
  const rules = INVARIANTS.filter(({ since }) => passes.has(since));
  const broken = rules.find(({ brokenBy }) => brokenBy?.(module) === true);
  if (broken !== undefined) return broken.says;
  for (const [name, fn] of module.functions) {
    const enter = (expr: Expr): boolean => !isAtom(expr);
    for (const expr of postOrder(fn.body, enter)) {
      const rule = rules.find((one) => one.broken?.(expr, operators) === true);
      if (rule === undefined) continue;
      return `${formatSpan(spanOf(expr), `@${name}, a ${expr.kind}`)}: ${rule.says}`;
    }
  }
  return undefined;
}

function isTensorCall(expr: Expr, operators: Operators): boolean {
  if (!isOperatorCall(expr)) return false;
  const { name } = expr.callee;
  return operators.get(name) !== undefined && !SCALAR_OPERATORS.has(name) && name !== VIEW_OPERATOR;
}

/** Returns true if a kernel allocates its result itself. */
function isDynamic({ body }: FunctionExpr, operators: Operators): boolean {
  return isOperatorCall(body) && operators.isDynamic(body.callee.name);
}

/** The operands of an expression, without branches and bodies. */
function operandsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'call':
      return expr.callee.kind === 'function' ? expr.args : [...expr.args, expr.callee];
    case 'tuple':
      return expr.fields;
    case 'projection':
      return [expr.tuple];
    case 'if':
      return [expr.condition];
    case 'match':
      return [expr.value];
    default:
      return [];
  }
}

/**
 * Returns true if a call needs sizes that none of its operands has yet: an allocation of a symbolic
 * size, or `dim`.
 */
function needsSize({ callee, args, attributes }: CallExpr): boolean {
  if (callee.kind !== 'operator') return false;
  if (callee.name === DIM) return true;
  if (callee.name !== ALLOC_STORAGE && callee.name !== ALLOC_TENSOR) return false;
  const dims = attributes[callee.name === ALLOC_STORAGE ? 'bytes' : 'shape'];
  const isKnown = !Array.isArray(dims) || dims.every((dim) => typeof dim === 'number');
  return !isKnown && args.length === (callee.name === ALLOC_STORAGE ? 0 : 1);
}
