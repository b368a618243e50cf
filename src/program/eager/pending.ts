import { formatType } from '../../compiler/ir/type.ts';
import { operatorName } from '../../compiler/ir/operators/operator-name.ts';
import type { ArrayState } from '../array-state.ts';
import { DATA, LEAST_USERS, PENDING } from '../array-state.ts';
import { realize, releaseNow } from './realize.ts';
import { addToScope } from './scope.ts';

/** As many calls in a row are one computation, about; it ends where the one before it did. */
const LEAST_DEPTH = 32;
/** No computation is deeper. */
const MOST_DEPTH = 96;

/** The operator and type that the last computation ended with, which began by its depth. */
let lastEnd = '';

/** Notes an eager call, and begins with its computation when enough calls wait. */
export function recordCall(state: ArrayState, operands: readonly ArrayState[]): void {
  PENDING.set(state.expr, new WeakRef(state));
  const self = new WeakRef(state);
  for (const operand of operands) {
    if (operand.users.length >= operand.mostUsers) dropOld(operand);
    operand.users.push(self);
    operand.onUse?.();
  }
  addToScope(state);
  if (state.depth < LEAST_DEPTH) return;
  const end = endOf(state);
  // In a loop the parts of a long row are the same then, and are compiled once.
  if (end !== lastEnd && state.depth < MOST_DEPTH && lastEnd !== '') return;
  lastEnd = end;
  realize([state]);
}

/** Drops users that are computed, or that nobody has. */
function dropOld(state: ArrayState): void {
  const { users } = state;
  const waiting = users.filter((user) => {
    const own = user.deref();
    return own !== undefined && own.expr.kind !== 'var';
  });
  users.splice(0, users.length, ...waiting);
  // Each is looked through a few times, however many there are.
  state.mostUsers = Math.max(LEAST_USERS, 2 * waiting.length);
}

function endOf({ expr, type }: ArrayState): string {
  return `${operatorName(expr)} ${formatType(type)}`;
}

/** Frees an array. What is computed of it and is still to be read is computed now. */
export function disposeState(state: ArrayState): void {
  if (state.isDisposed) return;
  state.isDisposed = true;
  if (state.expr.kind !== 'var') return;
  realize(usersOf(state));
  const data = DATA.get(state.expr);
  if (data !== undefined) releaseNow(state.expr, data);
}

/** Arrays that are not computed yet, not disposed of, and made of this one. */
function usersOf(state: ArrayState): ArrayState[] {
  const found = new Set<ArrayState>();
  const work = [state];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const reference of next.users) {
      const user = reference.deref();
      if (user === undefined || found.has(user) || user.expr.kind === 'var') continue;
      found.add(user);
      work.push(user);
    }
  }
  return [...found].filter(({ isDisposed }) => !isDisposed);
}
