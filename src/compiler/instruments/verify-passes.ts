import { TypeCheckError, WeftError } from '../../core/errors.ts';
import { isElaborated } from '../inference/elaborate.ts';
import { verifyModule } from '../verify/verify-module.ts';
import type { PassInstrument } from './pass-instrument.ts';

/**
 * An instrument that verifies what each pass leaves: scopes, arity, attributes, patterns and types. The
 * first pass that leaves a module that is not valid ends compiling with a TypeCheckError that names it.
 */
export const verifyPasses: PassInstrument = {
  afterPass({ pass, before, after, context: { types, texts } }) {
    if (after === before) return;
    const isTyped = isElaborated(after);
    try {
      const { operators } = types;
      verifyModule(after, { types: isTyped, operators, ...(texts && { texts }) });
    } catch (error) {
      if (!(error instanceof WeftError)) throw error;
      const message = `pass ${pass} left a module that is not valid: ${error.message}`;
      throw new TypeCheckError(message, { cause: error });
    }
  },
};
