import { UnsupportedError } from '../../../core/errors.ts';
import { kernelName, WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import { type CallExpr, type Expr, formatSpan } from '../../ir/expr.ts';
import { childrenOf } from '../../ir/walk/visit.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { type Dataflow, isView } from './dataflow.ts';
import type { Groups } from './groups.ts';

/**
 * The alternative of a kernel that the program brings along joins its group, with all that only the
 * alternative reads: WebGPU leaves it out, and the host runs nothing else.
 */
export function gatherAlternatives(dataflow: Dataflow, groups: Groups): void {
  for (const expr of dataflow.scopes.order) {
    if (expr.kind !== 'call' || operatorName(expr) !== WGSL_KERNEL) continue;
    if (expr.attributes['alternative'] === true) gatherAlternative(expr, dataflow, groups);
  }
}

function gatherAlternative(expr: CallExpr, dataflow: Dataflow, groups: Groups): void {
  const { scopes } = dataflow;
  const wanted = (arg: Expr): arg is CallExpr =>
    arg.kind === 'call' &&
    (groups.of(arg) !== undefined || isView(arg)) &&
    scopes.of(arg) === scopes.of(expr) &&
    arg.onDevice === expr.onDevice;
  const members = new Set<CallExpr>();
  const counts = new Map<Expr, number>();
  const work = expr.args.slice(-1);
  for (let arg = work.pop(); arg !== undefined; arg = work.pop()) {
    const count = (counts.get(arg) ?? 0) + 1;
    counts.set(arg, count);
    if (count !== dataflow.readers(arg).length || !wanted(arg) || members.has(arg)) continue;
    members.add(arg);
    work.push(...new Set(childrenOf(arg)));
  }
  const last = expr.args.at(-1);
  // A value that something else reads too is computed anyway.
  if (last === undefined || !(operatorName(last) !== '' || isAtom(last))) throw noAlternative(expr);
  groups.gather([expr, ...members]);
}

function noAlternative({ span, attributes }: CallExpr): UnsupportedError {
  return new UnsupportedError({
    where: formatSpan(span, `kernel ${kernelName(attributes)}`),
    got: 'an alternative for the host that calls functions or branches',
    expected: 'operators on tensors, or small functions of such',
  });
}
