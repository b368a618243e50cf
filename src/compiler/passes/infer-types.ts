import type { Pass } from './pass.ts';

/**
 * Infers the type of every expression, so that a module that is not well-typed fails here, with the
 * place in the source model, and not inside a later pass. The module itself stays as it is: types
 * stand in the context.
 */
export const inferTypes: Pass = {
  name: 'infer-types',
  run(module, { types }) {
    for (const fn of module.functions.values()) types.of(fn);
    return module;
  },
};
