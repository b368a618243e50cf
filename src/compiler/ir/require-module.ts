import { describe, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import type { Module } from './expr.ts';

/** Throws UsageError for what is no module. */
export function requireModule(
  where: string,
  module: unknown,
  remedy = 'importOnnx makes one of a model, parseModule of a text.',
): asserts module is Module {
  const { functions, types } = Object(module) as Partial<Module>;
  if (functions instanceof Map && types instanceof Map) return;
  throw new UsageError({ where, got: describe(module), expected: 'a module', remedy });
}

/** Throws UsageError for what is no expression. */
export function requireExpr(where: string, expr: unknown): void {
  const isNode = 'kind' in Object(expr);
  requireKind(where, ['an expression', () => isNode], ['what is', expr]);
}
