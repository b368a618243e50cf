import type { SourceTexts } from '../inference/checks/type-diagnostics.ts';
import type { Module } from '../ir/expr.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import type { OnRewrite, RewriteRule } from '../rewriting/rewrite-rule.ts';

/** The part of a compilation that its passes share. */
export interface PassContext {
  /** Types that passes have inferred so far. */
  readonly types: TypeInference;
  /** Texts of programs by the name in spans, for messages. */
  readonly texts?: SourceTexts | undefined;
  /** Called with what is well-typed and yet odd, with its place. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Called for each rewrite rule that was applied. */
  readonly onRewrite?: OnRewrite | undefined;
}

/** A function from module to module. It never changes the nodes it is given. */
export interface Pass {
  /** The name by which options and `weft opt` choose it. */
  readonly name: string;
  /**
   * The rules that it applies, if it is a table of them.
   * @internal
   */
  readonly rules?: readonly RewriteRule[];
  /** The module that it makes of another one. */
  run(module: Module, context: PassContext): Module;
}
