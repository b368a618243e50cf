import { inferModule } from '../inference/infer-module.ts';
import type { Pass } from './pass.ts';

/**
 * Infers the types of a module and writes them into it, so that a module that is not well-typed
 * fails here, with the place in the source, and not inside a later pass. After this pass the type of
 * a node follows from the node and the module's declarations.
 */
export const inferTypes: Pass = {
  name: 'infer-types',
  run(module, { types, texts, onWarning }) {
    const typed = inferModule(module, { texts, onWarning, operators: types.operators });
    types.declare(typed);
    return typed;
  },
};
