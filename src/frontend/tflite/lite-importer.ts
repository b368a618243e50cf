import type { Expr } from '../../compiler/ir/expr.ts';
import type { LiteNode } from './lite-node.ts';

/** Turns one operator into expressions, one for each of its outputs. */
type ImportOperator = (node: LiteNode) => Expr | readonly (Expr | undefined)[];

/** An operator, and how it is imported. */
export interface LiteImporter {
  /** The core operators that it becomes, the most important one first; empty: it disappears in the graph. */
  readonly makes: string;
  readonly import: ImportOperator;
}

/** Importers by the names of operators. */
export type LiteImporters = Readonly<Record<string, LiteImporter>>;

/** A row of a table. */
export const becomes = (makes: string, importOperator: ImportOperator): LiteImporter => ({
  makes,
  import: importOperator,
});
