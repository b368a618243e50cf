import { appendAxis, changedAxis, isInnerAxis } from '../../ir/append-axis.ts';
import type { CallExpr, Expr } from '../../ir/expr.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';
import { type Dataflow, isView } from './dataflow.ts';

/**
 * Calls that extend a tensor from outside the kernels of the function, and whose result goes on beyond these: a state
 * that grows. By itself such a call writes only what is new (`plan-memory`); in a kernel with others it would write
 * everything.
 */
export function findGrowingStates(dataflow: Dataflow): ReadonlySet<Expr> {
  const extensions = findExtensions(dataflow);
  if (extensions.size === 0) return extensions;
  /** Values that something gets that is no kernel, as they are, under another shape, or extended. */
  const leaving = new Set<Expr>();
  for (const expr of dataflow.scopes.order.toReversed()) {
    const readers = dataflow.readers(expr);
    const leaves = (reader: Expr): boolean => {
      if (reader.kind === 'if' || reader.kind === 'match')
        return joinsInPlace(dataflow, expr, reader);
      if (!isOperatorCall(reader)) return true;
      const isExtended = extensions.has(reader) && reader.args[0] === expr;
      const goesOn = isView(reader) || isExtended || isChanged(dataflow, expr, reader);
      return goesOn && leaving.has(reader);
    };
    if (readers.length === 0 || readers.some(leaves)) leaving.add(expr);
  }
  return new Set([...extensions].filter((expr) => leaving.has(expr)));
}

/**
 * Returns true if the value of a branch may grow in place. Kernels that read it after the branches
 * do not support room between its slices, and would get a copy.
 */
function joinsInPlace(dataflow: Dataflow, expr: Expr, branches: Expr): boolean {
  const axis = extendedAxis(dataflow, expr);
  if (axis === undefined || !isInnerAxis(dataflow.tensorType(expr), axis)) return true;
  return dataflow.readers(branches).every((reader) => operatorName(reader) === '');
}

/** Returns true if a call changes an extended tensor in place, along the axis of the extension. */
function isChanged(dataflow: Dataflow, expr: Expr, call: CallExpr): boolean {
  const op = dataflow.operatorOf(call);
  const input = op?.storage?.overwrites;
  if (op === undefined || input === undefined || call.args[input] !== expr) return false;
  const axis = extendedAxis(dataflow, expr);
  const result = dataflow.tensorType(call);
  return axis !== undefined && axis === changedAxis({ op, attributes: call.attributes, result });
}

/** Calls that put more behind a tensor that is no result of a kernel, but of another such call perhaps. */
function findExtensions(dataflow: Dataflow): ReadonlySet<Expr> {
  const extensions = new Set<Expr>();
  for (const expr of dataflow.scopes.order) {
    if (expr.kind !== 'call' || extendedAxis(dataflow, expr) === undefined) continue;
    let source = expr.args[0] ?? expr.callee;
    while (source.kind === 'call' && isView(source)) source = source.args[0] ?? source.callee;
    const isGiven = source.kind !== 'constant' && dataflow.operatorOf(source) === undefined;
    if (isGiven || extensions.has(source)) extensions.add(expr);
  }
  return extensions;
}

/** The axis along which a value is its first operand and more behind it. */
function extendedAxis(dataflow: Dataflow, expr: Expr): number | undefined {
  const op = dataflow.operatorOf(expr);
  if (op?.indexMap?.joinedAxis === undefined || expr.kind !== 'call') return undefined;
  const { args, attributes } = expr;
  const [first] = args;
  if (first === undefined || args.length < 2) return undefined;
  const result = dataflow.tensorType(expr);
  return appendAxis({ op, attributes, result }, dataflow.tensorType(first));
}
