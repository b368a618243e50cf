import { TypeCheckError, WeftError } from '../core/errors.ts';
import { isElaborated } from './inference/elaborate.ts';
import type { Module } from './ir/expr.ts';
import { requireNodes } from './ir/require-nodes.ts';
import { verifyModule } from './verify/verify-module.ts';
import { inferTypes } from './passes/infer-types.ts';
import type { Pass, PassContext } from './passes/pass.ts';

const CHECKED = new WeakSet<Pass>();

/**
 * A pass that is not of this compiler. Later passes rely on types and scopes, so what it leaves is given the
 * types that are missing, and is verified. Throws TypeCheckError that names the pass.
 */
export function checkedPass(pass: Pass): Pass {
  if (CHECKED.has(pass)) return pass;
  const result: Pass = {
    ...pass,
    run(module, context) {
      const isTyped = isElaborated(module);
      context.types.declare(module);
      const made = pass.run(module, context);
      if (made === module) return module;
      const remedy = 'A pass that changes nothing returns its module.';
      requireNodes(`result of the pass ${pass.name}`, made, remedy);
      try {
        return checked(made, isTyped, context);
      } catch (error) {
        if (!(error instanceof WeftError)) throw error;
        const message = `pass ${pass.name} left a module that is not valid: ${error.message}`;
        throw new TypeCheckError(message, { cause: error });
      }
    },
  };
  CHECKED.add(result);
  return result;
}

function checked(module: Module, isTyped: boolean, context: PassContext): Module {
  const { types, texts } = context;
  const { operators } = types;
  if (!isTyped) {
    verifyModule(module, { types: false, operators, ...(texts && { texts }) });
    return module;
  }
  verifyModule(module, { types: isElaborated(module), operators, ...(texts && { texts }) });
  const typed = isElaborated(module) ? module : inferTypes.run(module, context);
  types.declare(typed);
  return typed;
}
