import { call, int } from '../../compiler/ir/build.ts';
import type { Expr } from '../../compiler/ir/expr.ts';
import type { Dim } from '../../core/dim.ts';
import { hostInteger } from './host-integer.ts';
import type { ImportNode } from './import-node.ts';

const COMPARISONS: Readonly<Record<string, (a: Expr, b: Expr) => Expr>> = {
  equal: (a, b) => call('int_eq', [a, b]),
  less: (a, b) => call('int_lt', [a, b]),
  greater: (a, b) => call('int_lt', [b, a]),
  less_equal: (a, b) => call('int_eq', [call('int_lt', [b, a]), int(0)]),
  greater_equal: (a, b) => call('int_eq', [call('int_lt', [a, b]), int(0)]),
  logical_not: (a) => call('int_eq', [a, int(0)]),
};

/**
 * A condition that compares dimensions as an integer of the host, so that no program waits for a
 * device to compare what the host knows; undefined for any other.
 */
export function hostCondition(node: ImportNode, condition: Expr): Expr | undefined {
  if (condition.kind !== 'call' || condition.callee.kind !== 'operator') return undefined;
  const { name } = condition.callee;
  const [first] = condition.args;
  if (name === 'reshape' && first !== undefined) return hostCondition(node, first);
  const compare = Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name] : undefined;
  if (compare === undefined) return undefined;
  const operands = condition.args.map((arg) =>
    name === 'logical_not' ? hostCondition(node, arg) : hostOperand(node, arg),
  );
  const [a, b = a] = operands;
  return a === undefined || b === undefined ? undefined : compare(a, b);
}

/** The only element of a constant, or of a tensor that is made of dimensions. */
function hostOperand(node: ImportNode, expr: Expr): Expr | undefined {
  if (expr.kind === 'constant') {
    const { value } = expr;
    const element = Number(value.elements[0]);
    const isPlain = value.elementCount === 1 && Number.isSafeInteger(element);
    return isPlain && value.dtype !== 'float16' ? int(element) : undefined;
  }
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return undefined;
  const [first] = expr.args;
  if (expr.callee.name === 'reshape' && first !== undefined) return hostOperand(node, first);
  const { dims } = expr.attributes;
  if (expr.callee.name !== 'dims_tensor' || !Array.isArray(dims)) return undefined;
  const [dim, ...others]: readonly Dim[] = dims;
  return dim === undefined || others.length > 0 ? undefined : hostInteger(dim, node.block.frame);
}
