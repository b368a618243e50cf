import type { Dim } from './dim.ts';

/** Formulas of sizes are walked by recursion, and written into shape programs. */
export const MAX_DIM_OPERATIONS = 4096;

/** Returns true for a formula of more than {@link MAX_DIM_OPERATIONS}. */
export function isTooLong(dim: Dim): boolean {
  let count = 0;
  const stack = [dim];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (typeof top !== 'object') continue;
    if (++count > MAX_DIM_OPERATIONS) return true;
    stack.push(top.left, top.right);
  }
  return false;
}
