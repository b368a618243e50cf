import type { NodeImporter } from './import-node.ts';

/** An operator of a domain, and how a node of it is imported. Every version of it is. */
export interface OperatorImporter {
  /** The first version of its operator set that has it. */
  readonly since: number;
  /**
   * The core operators that it becomes: first the one whose dtypes decide, then what else its
   * attributes, versions and dtypes can call for, but for readings of sizes. Empty: it disappears in
   * the graph.
   */
  readonly makes: string;
  readonly import: NodeImporter;
}

/** A row of a table: the operator exists since that operator set, and a node becomes those core operators. */
export const since = (
  version: number,
  makes: string,
  importNode: NodeImporter,
): OperatorImporter => ({ since: version, makes, import: importNode });

/** Importers by the names that the domain gives operators. */
export type OperatorImporters = Readonly<Record<string, OperatorImporter>>;
