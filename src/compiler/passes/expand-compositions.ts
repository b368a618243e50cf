import { isUnknownDim } from '../../core/dims/dim-symbols.ts';
import { UnsupportedError, WeftError } from '../../core/errors.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { Operator } from '../../ops/operator.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { type CallExpr, type Expr, formatSpan, type Module, type VarExpr } from '../ir/expr.ts';
import { parseExpr } from '../ir/text/parse.ts';
import { formatType } from '../ir/type.ts';
import { rewriteBodies } from '../ir/walk/visit.ts';
import { isOperatorCall } from '../ir/operators/operator-name.ts';
import { inferTypes } from './infer-types.ts';
import type { Pass } from './pass.ts';

/** So deep may compositions call each other. */
const MAX_DEPTH = 16;

/**
 * Puts what a composed operator means in the place of its calls, so that devices need not know it.
 * Compositions may call composed operators in turn.
 */
export const expandCompositions: Pass = {
  name: 'expand-compositions',
  run(module, context) {
    let current = module;
    let last = '';
    for (let depth = 0; depth <= MAX_DEPTH; depth++) {
      const expanded = expandOnce(current, context.types, (name) => (last = name));
      if (expanded === current) return current;
      current = inferTypes.run(expanded, context);
    }
    throw new UnsupportedError({
      where: `operator ${last}`,
      got: `compositions within compositions, more than ${MAX_DEPTH} deep`,
      expected: 'one that does not come back to itself',
    });
  },
};

function expandOnce(module: Module, types: TypeInference, visit: (name: string) => void): Module {
  return rewriteBodies(module, (expr) => {
    if (!isOperatorCall(expr)) return expr;
    const op = types.operators.get(expr.callee.name);
    if (op?.composition === undefined) return expr;
    visit(op.name);
    return expand(expr, op, types);
  });
}

/** `let %x = a; let %y = b; let %name: T = composition; %name` */
function expand(expr: CallExpr, op: Operator, types: TypeInference): Expr {
  const inputs = expr.args.map((arg) => tensorType(arg, types));
  const output = tensorType(expr, types);
  const attributes = completeAttributes(op, expr.attributes);
  const text = op.composition?.({ inputs, output, attributes }) ?? '';
  const params = expr.args.map((arg, i): VarExpr => {
    const { name = 'input', variadic } = op.inputs[Math.min(i, op.inputs.length - 1)] ?? {};
    const count = variadic === true ? String(i - op.inputs.length + 1) : '';
    return { kind: 'var', name: `${name}${count}`, type: types.of(arg) };
  });
  const value = parse(text, op, { params, types, at: expr });
  const isKnown = !output.shape.some(isUnknownDim);
  const variable: VarExpr = {
    kind: 'var',
    name: op.name,
    ...(isKnown && { type: types.of(expr) }),
  };
  const span = expr.span === undefined ? {} : { span: expr.span };
  const result: Expr = { kind: 'let', variable, value, body: variable, ...span };
  return params.reduceRight<Expr>((body, param, i) => {
    const arg = expr.args[i];
    return arg === undefined ? body : { kind: 'let', variable: param, value: arg, body, ...span };
  }, result);
}

interface ParseContext {
  readonly params: readonly VarExpr[];
  readonly types: TypeInference;
  readonly at: CallExpr;
}

/** Throws UnsupportedError, which names the operator, for text that is none of the language. */
function parse(text: string, op: Operator, { params, types, at }: ParseContext): Expr {
  const scope = new Map<string, Expr>(params.map((param) => [param.name, param]));
  const file = `composition of ${op.name}`;
  try {
    return parseExpr(text, { file, scope, operators: types.operators });
  } catch (error) {
    if (!(error instanceof WeftError)) throw error;
    const message = `${formatSpan(at.span, `operator ${op.name}`)}: ${error.message}`;
    throw new UnsupportedError(message, { cause: error });
  }
}

function tensorType(expr: Expr, types: TypeInference) {
  const type = types.of(expr);
  if (type.kind === 'tensor') return { dtype: type.dtype, shape: type.shape };
  throw new Error(`internal: an operator on ${formatType(type)}`);
}
