import { isTooLong, MAX_DIM_OPERATIONS } from '../../../core/dims/dim-length.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { CompileLimitError } from '../../../core/errors.ts';
import {
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Module,
  type Pattern,
  spanOf,
} from '../expr.ts';
import { requireModule } from '../require-module.ts';
import { depthOfType, MAX_TYPE_DEPTH, partsOfType, type Type } from '../type.ts';
import { bindersOf, postOrder } from '../walk/visit.ts';

/** Patterns are walked by recursion, so that deeper ones are refused. */
const MAX_PATTERN_DEPTH = 500;

/** Returns true if a pattern has more than {@link MAX_PATTERN_DEPTH} levels. */
function isTooDeepPattern(root: Pattern): boolean {
  const stack = [{ pattern: root, depth: 1 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { pattern, depth } = top;
    if (depth > MAX_PATTERN_DEPTH) return true;
    if (!('fields' in pattern)) continue;
    for (const field of pattern.fields) stack.push({ pattern: field, depth: depth + 1 });
  }
  return false;
}

/** Types that were looked at: most are shared, and all passes share them. */
const checked = new WeakSet<Type>();

/**
 * Throws CompileLimitError with the place of a type or a dimension that is too deep to be walked by recursion. Texts
 * and JSON have been refused where they were read; this is for modules that a program built.
 */
export function checkTypeNesting(module: Module, where = 'module'): void {
  requireModule(where, module);
  const { types, functions } = module;
  for (const { name, constructors } of types.values()) {
    for (const constructor of constructors) {
      const where = `type ${name}, constructor ${constructor.name}`;
      for (const field of constructor.fields) checkType(field, where);
    }
  }
  for (const [name, fn] of functions) checkTypesIn(fn, `@${name}`);
}

/** {@link checkTypeNesting}, and the same for patterns, which texts and JSON may nest to any depth. */
export function checkNesting(module: Module, where?: string): void {
  checkTypeNesting(module, where);
  for (const [name, fn] of module.functions) checkPatternsIn(fn, `@${name}`);
}

/** Throws CompileLimitError for a pattern in an expression; `otherwise` is its place if it has no span. */
export function checkPatternsIn(root: Expr, otherwise: string): void {
  for (const expr of postOrder(root)) {
    if (expr.kind !== 'match') continue;
    if (!expr.clauses.some(({ pattern }) => isTooDeepPattern(pattern))) continue;
    throw tooMuch(formatSpan(expr.span, otherwise), 'pattern', `${MAX_PATTERN_DEPTH} levels`);
  }
}

/** {@link checkTypeNesting} of one expression; `otherwise` is its place if it has no span. */
export function checkTypesIn(root: Expr, otherwise: string): void {
  for (const expr of postOrder(root)) {
    const where = formatSpan(spanOf(expr), otherwise);
    for (const type of typesIn(expr)) checkType(type, where);
    for (const { name, type, span } of bindersOf(expr)) {
      if (type !== undefined) checkType(type, formatSpan(span, `${otherwise}, %${name}`));
    }
    if (expr.kind !== 'call') continue;
    for (const value of Object.values(expr.attributes)) {
      if (Array.isArray(value)) checkDims(value as readonly Dim[], where);
    }
  }
}

function typesIn(expr: Expr): readonly Type[] {
  if (expr.kind === 'call') return expr.typeArguments ?? [];
  if (expr.kind === 'var') return expr.type === undefined ? [] : [expr.type];
  return expr.kind === 'function' ? resultTypes(expr) : [];
}

function resultTypes({ resultType }: FunctionExpr): readonly Type[] {
  return resultType === undefined ? [] : [resultType];
}

function checkType(root: Type, where: string): void {
  if (checked.has(root)) return;
  if (depthOfType(root) > MAX_TYPE_DEPTH) throw tooMuch(where, 'type', `${MAX_TYPE_DEPTH} levels`);
  const stack = [root];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (checked.has(type)) continue;
    if (type.kind === 'tensor') checkDims(type.shape, where);
    checked.add(type);
    stack.push(...partsOfType(type));
  }
}

function checkDims(dims: readonly Dim[], where: string): void {
  if (!dims.some((dim) => isTooLong(dim))) return;
  throw tooMuch(where, 'dimension', `${MAX_DIM_OPERATIONS} operations`);
}

function tooMuch(where: string, what: string, most: string): CompileLimitError {
  return new CompileLimitError({
    where,
    got: `a ${what} of more than ${most}`,
    expected: 'one that is less nested',
  });
}
