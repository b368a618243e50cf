import { dispatch, type DispatchReport, type FunctionDispatch } from './dispatch.ts';
import type { Module } from '../../ir/expr.ts';
import type { Pass } from '../pass.ts';

export type ModuleDispatch = Readonly<Record<string, FunctionDispatch>>;

/**
 * Graph dispatching: clones of functions for intervals of sizes, see {@link dispatch}. Comes after
 * the passes that compute with constants, so that all clones share what those made.
 */
export function dispatchByShape(
  dispatches: ModuleDispatch,
  onReport?: (report: DispatchReport) => void,
): Pass {
  return {
    name: 'dispatch-by-shape',
    run(module, { types }) {
      let current: Module = module;
      for (const [name, by] of Object.entries(dispatches)) {
        const { module: dispatched, report } = dispatch(current, name, by, types);
        current = dispatched;
        onReport?.(report);
      }
      types.declare(current);
      return current;
    },
  };
}

/** The pass that options of `compile` ask for. */
export function dispatchFor({ dispatch: dispatches = {}, onDispatch }: DispatchOptions): Pass {
  return dispatchByShape(dispatches, onDispatch);
}

interface DispatchOptions {
  readonly dispatch?: ModuleDispatch | undefined;
  readonly onDispatch?: ((report: DispatchReport) => void) | undefined;
}
