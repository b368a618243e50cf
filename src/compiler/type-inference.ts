import { concreteShape, formatDim } from '../core/dim.ts';
import { ShapeError, TypeCheckError, UnsupportedError } from '../core/errors.ts';
import type { ConcreteTensorType } from '../core/primitive-function.ts';
import { inferOperator } from './evaluate-call.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type Span,
  spanOf,
  type VarExpr,
} from './ir/expr.ts';
import { formatType, INT_TYPE, sameType, tensorType, type Type } from './ir/type.ts';
import { postOrder } from './ir/visit.ts';

/**
 * The types of expressions. A node's type follows from the node alone, so that it is inferred once
 * and a pass may ask for the type of a node that it has just made.
 */
export class TypeInference {
  readonly #types = new WeakMap<Expr, Type>();

  /** Throws TypeCheckError or ShapeError with the place in the source model. */
  of(expr: Expr): Type {
    const known = this.#types.get(expr);
    if (known !== undefined) return known;
    for (const node of postOrder(expr, (inner) => !this.#types.has(inner))) {
      // An operator has a type only together with the operands of its call.
      if (node.kind === 'operator' || this.#types.has(node)) continue;
      this.#types.set(node, this.#infer(node));
    }
    return this.#typed(expr);
  }

  /** The type of an expression that must be a tensor with all dimensions known. */
  tensor(expr: Expr): ConcreteTensorType {
    return concreteTensor(this.of(expr), spanOf(expr));
  }

  #typed(expr: Expr): Type {
    const type = this.#types.get(expr);
    if (type === undefined) throw new Error(`internal: a ${expr.kind} has no type`);
    return type;
  }

  #infer(expr: Expr): Type {
    switch (expr.kind) {
      case 'var':
        return declaredType(expr);
      case 'constant':
        return tensorType(expr.value);
      case 'call':
        return expr.callee.kind === 'operator'
          ? this.#operatorCall(expr, expr.callee.name)
          : this.#functionCall(expr);
      case 'function':
        return {
          kind: 'function',
          params: expr.params.map(declaredType),
          result: this.#typed(expr.body),
        };
      case 'tuple':
        return { kind: 'tuple', fields: expr.fields.map((field) => this.#typed(field)) };
      case 'projection':
        return this.#field(this.#typed(expr.tuple), expr.index, expr.span);
      case 'int':
        return INT_TYPE;
      case 'constructor':
      case 'global':
      case 'let':
      case 'if':
      case 'match':
        throw new UnsupportedError({
          where: formatSpan(expr.span, 'type inference'),
          got: `a ${expr.kind} expression`,
          expected: 'a program of operator calls and tuples',
        });
      case 'operator':
        throw new Error(`internal: operator ${expr.name} outside a call`);
      default:
        return expr satisfies never;
    }
  }

  #operatorCall(expr: CallExpr, op: string): Type {
    const inputs = expr.args.map((arg) => concreteTensor(this.#typed(arg), expr.span));
    try {
      return tensorType(inferOperator(op, inputs, expr.attributes));
    } catch (thrown) {
      throw atPlace(thrown, expr.span);
    }
  }

  #functionCall(expr: CallExpr): Type {
    const { callee } = expr;
    const where = formatSpan(expr.span, 'function call');
    if (callee.kind !== 'function') {
      throw new UnsupportedError({
        where,
        got: `a call of a ${callee.kind}`,
        expected: 'a call of an operator or of a function that stands there',
      });
    }
    if (expr.args.length !== callee.params.length) {
      throw new TypeCheckError({
        where,
        got: `${expr.args.length} arguments`,
        expected: `${callee.params.length}`,
      });
    }
    for (const [i, param] of callee.params.entries()) {
      const arg = expr.args[i];
      const type = arg === undefined ? undefined : this.#typed(arg);
      const expected = declaredType(param);
      if (type !== undefined && !sameType(type, expected)) {
        throw new TypeCheckError({
          where: `${where}, argument ${param.name}`,
          got: formatType(type),
          expected: formatType(expected),
        });
      }
    }
    return this.#typed(callee.body);
  }

  #field(type: Type, index: number, span: Span | undefined): Type {
    const field = type.kind === 'tuple' ? type.fields[index] : undefined;
    if (field !== undefined) return field;
    throw new TypeCheckError({
      where: formatSpan(span, 'projection'),
      got: `field ${index} of ${formatType(type)}`,
      expected: type.kind === 'tuple' ? `one of ${type.fields.length} fields` : 'a tuple',
    });
  }
}

function declaredType(variable: VarExpr): Type {
  if (variable.type !== undefined) return variable.type;
  throw new TypeCheckError({
    where: formatSpan(variable.span, `variable ${variable.name}`),
    got: 'no type',
    expected: 'the type of every variable',
  });
}

function concreteTensor(type: Type, span: Span | undefined): ConcreteTensorType {
  const where = formatSpan(span, 'expression');
  if (type.kind !== 'tensor') {
    throw new TypeCheckError({ where, got: formatType(type), expected: 'a tensor' });
  }
  const shape = concreteShape(type.shape);
  if (shape !== undefined) return { dtype: type.dtype, shape };
  const free = type.shape.find((dim) => typeof dim !== 'number') ?? '?';
  throw new TypeCheckError({
    where,
    got: `${formatType(type)}, whose dimension ${formatDim(free)} is unknown`,
    expected: 'a shape of numbers',
    remedy: `Bind the symbol when compiling: dims: { ${formatDim(free)}: 1 }.`,
  });
}

/** The complaint of an operator with the node of the source model before it. */
function atPlace(thrown: unknown, span: Span | undefined): unknown {
  if (span === undefined || !(thrown instanceof Error)) return thrown;
  const message = `${formatSpan(span, '')}: ${thrown.message}`;
  if (thrown instanceof ShapeError) return new ShapeError(message, { cause: thrown });
  if (thrown instanceof UnsupportedError) return new UnsupportedError(message, { cause: thrown });
  return thrown;
}
