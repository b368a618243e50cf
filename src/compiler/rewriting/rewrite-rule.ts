import type { TypeInference } from '../inference/type-inference.ts';
import type { Expr, Span } from '../ir/expr.ts';
import type { Captures } from './captures.ts';
import type { ExprPattern, TypePattern } from './expr-pattern.ts';

/** The questions that a replacement may ask. */
export interface RewriteContext {
  /** Types of expressions, old and new. */
  readonly types: TypeInference;
}

/** A pattern and what takes the place of what it fits. Rules of a pass are listed in one table. */
export interface RewriteRule {
  /** Short and unique among all rules: `x + 0 = x`. */
  readonly name: string;
  /** Its root is a call of an operator, or alternatives that are. */
  readonly pattern: ExprPattern;
  /** Types of captures, by name. A name that the match does not have is not looked at. */
  readonly types?: Readonly<Record<string, TypePattern>>;
  /** Undefined: the rule does not apply after all. Calls without a place get that of the root. */
  replace(captures: Captures, context: RewriteContext): Expr | undefined;
  /** Set if the rule gives numbers where the expression that it replaces gives NaN. */
  readonly definesNaN?: true;
  /** Set if the rule may give NaN where numbers that are not finite meet padding. */
  readonly makesNaN?: true;
  /** Why, where the name does not say it. */
  readonly explains?: string;
}

export interface AppliedRule {
  readonly rule: string;
  /** Why, where the name does not say it. */
  readonly explains?: string | undefined;
  /** The name of the global function in which it was applied. */
  readonly function: string;
  /** The place of the source of the expression that was replaced. */
  readonly span?: Span | undefined;
}

export type OnRewrite = (applied: AppliedRule) => void;
