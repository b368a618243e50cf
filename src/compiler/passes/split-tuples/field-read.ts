import type { Expr, LetExpr, ProjectionExpr, VarExpr } from '../../ir/expr.ts';

/** A read of a field of a tuple, and its place in the function. */
export interface FieldRead {
  readonly tuple: VarExpr;
  readonly read: ProjectionExpr;
  /** The let that binds it; undefined for the result of a block. */
  readonly binding: LetExpr | undefined;
  readonly place: Place;
}

/** A step of the block that begins with an expression. */
export interface Place {
  readonly root: Expr;
  readonly step: number;
}
