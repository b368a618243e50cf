import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Block } from '../graph-scope.ts';
import type { GraphProto } from '../protobuf/schema.ts';
import type { Path } from '../paths/paths.ts';

interface SubgraphReader {
  readonly follow: (block: Block, inputs: readonly Expr[]) => Path;
  readonly read: (block: Block, inputs: readonly Expr[]) => readonly Expr[];
}

/** A graph in an attribute of a node. Its nodes may read the values of the graphs around it. */
export class Subgraph {
  /** `body of node "loop" (Loop)` */
  readonly where: string;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** The model's types of its inputs, which may be wrong. */
  readonly inputs: GraphProto['input'];
  readonly nodeCount: number;
  /** The model's types of its outputs, which may be wrong. */
  readonly outputs: GraphProto['output'];
  readonly #reader: SubgraphReader;

  constructor(graph: GraphProto, where: string, reader: SubgraphReader) {
    this.where = where;
    this.inputNames = graph.input.map(({ name }) => name ?? '');
    this.inputs = graph.input;
    this.outputNames = graph.output.map(({ name }) => name ?? '');
    this.nodeCount = countNodes(graph);
    this.outputs = graph.output;
    this.#reader = reader;
  }

  /** The path through the graph. May be called often: each call makes expressions of its own. */
  follow(block: Block): Path {
    return this.#reader.follow(block, []);
  }

  /**
   * The outputs for these inputs. May be called often. Throws what a node has for an error, and
   * UnsupportedError where the rank of an output depends on a branch.
   */
  importInto(block: Block, inputs: readonly Expr[]): readonly Expr[] {
    return this.#reader.read(block, inputs);
  }
}

function countNodes(graph: GraphProto): number {
  let count = graph.node.length;
  for (const { attribute } of graph.node) {
    for (const { g } of attribute) if (g !== undefined) count += countNodes(g);
  }
  return count;
}
