import type { Module } from '../ir/expr.ts';
import type { TypeInference } from '../type-inference.ts';

/** What passes of one compilation share. */
export interface PassContext {
  readonly types: TypeInference;
}

/** A function from module to module. It never changes the nodes it is given. */
export interface Pass {
  readonly name: string;
  run(module: Module, context: PassContext): Module;
}
