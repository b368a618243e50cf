import type { Expr } from '../../compiler/ir/expr.ts';
import type { Block } from './graph-scope.ts';
import type { GraphProto } from './protobuf/schema.ts';

/** A graph in an attribute of a node. Its nodes may read the values of the graphs around it. */
export class Subgraph {
  /** `body of node "loop" (Loop)` */
  readonly where: string;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly nodeCount: number;
  readonly #importInto: (block: Block, inputs: readonly Expr[]) => Expr[];

  constructor(
    graph: GraphProto,
    where: string,
    importInto: (block: Block, inputs: readonly Expr[]) => Expr[],
  ) {
    this.where = where;
    this.inputNames = graph.input.map(({ name }) => name ?? '');
    this.outputNames = graph.output.map(({ name }) => name ?? '');
    this.nodeCount = countNodes(graph);
    this.#importInto = importInto;
  }

  /** The outputs for these inputs. May be called often: each call makes expressions of its own. */
  importInto(block: Block, inputs: readonly Expr[]): Expr[] {
    return this.#importInto(block, inputs);
  }
}

function countNodes(graph: GraphProto): number {
  let count = graph.node.length;
  for (const { attribute } of graph.node) {
    for (const { g } of attribute) if (g !== undefined) count += countNodes(g);
  }
  return count;
}
