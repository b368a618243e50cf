import type { ArrayState } from '../array-state.ts';

/** Arrays that were made in the scopes that are open, the innermost last. */
const SCOPES: Set<ArrayState>[] = [];

/** An eager array belongs to the scope that it is made in. */
export function addToScope(state: ArrayState): void {
  SCOPES.at(-1)?.add(state);
}

/** Does some work; gives its result, and the arrays that it made. */
export function recordArrays<T>(work: () => T): {
  readonly result: T;
  readonly made: Set<ArrayState>;
} {
  const made = new Set<ArrayState>();
  SCOPES.push(made);
  try {
    return { result: work(), made };
  } finally {
    SCOPES.splice(SCOPES.lastIndexOf(made), 1);
  }
}

/** Arrays that leave a scope belong to the one around it. */
export function passOn(states: Iterable<ArrayState>): void {
  for (const state of states) addToScope(state);
}
