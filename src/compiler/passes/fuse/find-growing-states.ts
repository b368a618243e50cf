import { appendAxis, isInnerAxis } from '../../ir/append-axis.ts';
import type { CallExpr, Expr } from '../../ir/expr.ts';
import { operatorName } from '../../ir/operator-name.ts';
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
      if (reader.kind !== 'call' || reader.callee.kind !== 'operator') return true;
      const isExtended = extensions.has(reader) && reader.args[0] === expr;
      return (isView(reader) || isExtended) && leaving.has(reader);
    };
    if (readers.length === 0 || readers.some(leaves)) leaving.add(expr);
  }
  return new Set([...extensions].filter((expr) => leaving.has(expr)));
}

/**
 * Whether the value of a branch may grow in place: kernels that read it behind the branches know nothing of room
 * between its slices, and would get a copy.
 */
function joinsInPlace(dataflow: Dataflow, expr: Expr, branches: Expr): boolean {
  if (expr.kind !== 'call' || !isInnerAppend(dataflow, expr)) return true;
  return dataflow.readers(branches).every((reader) => operatorName(reader) === '');
}

/** Calls that put more behind a tensor that is no result of a kernel, but of another such call perhaps. */
function findExtensions(dataflow: Dataflow): ReadonlySet<Expr> {
  const extensions = new Set<Expr>();
  for (const expr of dataflow.scopes.order) {
    const [first] = expr.kind === 'call' ? expr.args : [];
    if (expr.kind !== 'call' || first === undefined || !isAppend(dataflow, expr, first)) continue;
    let source = first;
    while (source.kind === 'call' && isView(source)) source = source.args[0] ?? source.callee;
    const isGiven = source.kind !== 'constant' && dataflow.operatorOf(source) === undefined;
    if (isGiven || extensions.has(source)) extensions.add(expr);
  }
  return extensions;
}

function isAppend(dataflow: Dataflow, call: CallExpr, first: Expr): boolean {
  return appendedAxis(dataflow, call, first) !== undefined;
}

function isInnerAppend(dataflow: Dataflow, call: CallExpr): boolean {
  const [first] = call.args;
  const axis = first && appendedAxis(dataflow, call, first);
  return axis !== undefined && isInnerAxis(dataflow.tensorType(call), axis);
}

function appendedAxis(dataflow: Dataflow, call: CallExpr, first: Expr): number | undefined {
  const op = dataflow.operatorOf(call);
  if (op?.indexMap?.joinedAxis === undefined || call.args.length < 2) return undefined;
  const join = { op, attributes: call.attributes, result: dataflow.tensorType(call) };
  return appendAxis(join, dataflow.tensorType(first));
}
