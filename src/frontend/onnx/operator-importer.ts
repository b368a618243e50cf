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

/** Importers by the names that the domain gives operators. */
export type OperatorImporters = Readonly<Record<string, OperatorImporter>>;
