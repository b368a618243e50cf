import type { CompileBudget } from '../../../compiler/ir/compile-budget.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import { nodeCallsToJson } from '../../../core/contracts/node-calls.ts';
import type {
  NodeOutput,
  NodeSignature,
  NodeType,
  NodeTypes,
} from '../../../core/contracts/node-function.ts';
import { type ImportOptions, importWithin } from '../import-onnx.ts';

/** Gives the types of the outputs of a node, from another thread. */
export type TypeOfNode = (node: NodeSignature) => Promise<NodeOutput | readonly NodeOutput[]>;

interface Asking {
  readonly typeOf: TypeOfNode | undefined;
  readonly newBudget: () => CompileBudget;
}

/**
 * The types of functions, also of those that only somebody else tells. Importing is synchronous, so it goes as far
 * as it gets, and begins again with the answers: nodes that follow each other ask one after the other.
 */
export async function nodeTypes(
  bytes: Uint8Array,
  options: ImportOptions,
  { typeOf, newBudget }: Asking,
): Promise<NodeTypes | undefined> {
  const { functions = {} } = options;
  const isTold = Object.values(functions).every(({ type }) => type !== undefined);
  if (typeOf === undefined || isTold) return options.functions;
  const answers = new Map<string, NodeOutput | readonly NodeOutput[]>();
  for (;;) {
    const asked = new Map<string, NodeSignature>();
    const ask: NodeType = (node) => {
      const key = keyOf(node);
      const answer = answers.get(key);
      if (answer !== undefined) return answer;
      asked.set(key, node);
      throw new UnsupportedError({ where: node.where, got: 'no type yet', expected: 'one' });
    };
    const types = Object.entries(functions).map(([name, { type = ask }]) => [name, { type }]);
    const told: NodeTypes = Object.fromEntries(types);
    try {
      newBudget().run(() => importWithin(bytes, { ...options, functions: told }));
    } catch (error) {
      if (asked.size === 0) throw error;
    }
    if (asked.size === 0) return told;
    for (const [key, node] of asked) answers.set(key, await typeOf(node));
  }
}

/** The same for nodes that differ in their names alone. */
function keyOf({ operator, inputs, attributes, outputCount }: NodeSignature): string {
  const call = { operator, inputCount: outputCount, inputs: [], attributes, nodes: [] };
  return nodeCallsToJson(new Map([[JSON.stringify(inputs), call]]));
}
