import type { Dim } from './dim.ts';

/** Formulas of sizes are walked by recursion, and written into shape programs. */
export const MAX_DIM_OPERATIONS = 4096;

/** Returns true for a formula of more operations than {@link MAX_DIM_OPERATIONS}, or than so many. */
export function isTooLong(dim: Dim, most = MAX_DIM_OPERATIONS): boolean {
  let count = 0;
  const stack = [dim];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (typeof top !== 'object') continue;
    if (++count > most) return true;
    stack.push(top.left, top.right);
  }
  return false;
}
