import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { elementCount, sameShape } from '../../../src/core/tensor/shape.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { concreteShape, type Graph, type GraphNode } from './graph.ts';
import { evaluateGraph, isComparable } from './perturbed-values.ts';

/** Sizes in the place of a symbol's own. */
const OTHER_SIZES = [4, 2, 1, 6];

/**
 * The graph with other sizes for its symbols, and with values for them; undefined where it has no
 * symbols or its values would be none to compare. It is the same program.
 */
export function resizedGraph(graph: Graph): Graph | undefined {
  if (graph.symbols.size === 0) return undefined;
  const symbols = new Map(
    [...graph.symbols].map(([name, size], i): [string, number] => {
      const others = OTHER_SIZES.filter((other) => other !== size);
      return [name, others[(size + i) % others.length] ?? 1];
    }),
  );
  const nodes = graph.nodes.map((node): GraphNode => {
    if (node.kind !== 'param') return node;
    return { ...node, value: repeated(node.value, concreteShape(node.type.shape, symbols)) };
  });
  const resized = { ...graph, nodes, symbols };
  return isDefined(resized) ? resized : undefined;
}

/** The elements of a tensor over and over in another shape, so that they stay in their range. */
function repeated({ dtype, shape, data }: HostTensor, wanted: readonly number[]): HostTensor {
  const elements = Array.from(data as ArrayLike<number | bigint>);
  const values = Array.from(
    { length: elementCount(wanted) },
    (_, i) => elements[i % elementCount(shape)] ?? 0,
  );
  return HostTensor.from(dtype, wanted, values);
}

function isDefined(graph: Graph): boolean {
  try {
    const values = evaluateGraph(graph, { random: seededRandom(1), count: 3 });
    return graph.nodes.every((node, i) => {
      const found = values[i];
      if (found === undefined) return false;
      const shape = concreteShape(node.type.shape, graph.symbols);
      return sameShape(found.value.shape, shape) && (node.kind !== 'call' || isComparable(found));
    });
  } catch {
    // Indices or cuts that suit the sizes before may lie outside of others.
    return false;
  }
}
