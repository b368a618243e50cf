import { evaluateDim } from '../../../src/core/dims/dim.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { TensorType } from '../../../src/core/contracts/primitive-function.ts';
import { inferCall } from '../../../src/ops/infer-call.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { seededRandom } from '../../../src/core/random.ts';
import {
  concreteAttributes,
  concreteShape,
  type Graph,
  type GraphNode,
  inputsOf,
} from './graph.ts';
import { evaluateGraph } from './perturbed-values.ts';

/** Returns true if a graph still shows the difference that is looked for. */
type Shows = (graph: Graph) => Promise<boolean>;

/**
 * A smaller graph that still shows a difference: outputs dropped, calls replaced by parameters with
 * their values, symbols by numbers, axes cut to one element, forms made plain. Each step is kept if
 * `shows` says so, until none is.
 */
export async function shrinkGraph(graph: Graph, shows: Shows): Promise<Graph> {
  let smallest = withoutUnread(graph);
  for (let changed = true; changed; ) {
    changed = false;
    for (const make of steps(smallest)) {
      const smaller = make();
      if (smaller === undefined || !(await shows(smaller))) continue;
      smallest = smaller;
      changed = true;
      break;
    }
  }
  return smallest;
}

/** Ways to make a graph smaller, those that take the most away first. */
function* steps(graph: Graph): Generator<() => Graph | undefined> {
  const { nodes, outputs } = graph;
  if (outputs.length > 1) {
    for (const output of outputs) yield () => withoutUnread({ ...graph, outputs: [output] });
    for (const dropped of outputs) {
      const kept = outputs.filter((output) => output !== dropped);
      yield () => withoutUnread({ ...graph, outputs: kept });
    }
  }
  for (const [i, node] of nodes.entries()) {
    if (node.kind !== 'call' && node.kind !== 'if') continue;
    const others = inputsOf(node).filter((input) => isAlike(nodes[input], node));
    for (const other of others) yield () => replaced(graph, i, other);
    yield () => asParameter(graph, i);
  }
  if (graph.symbols.size > 0) yield () => retyped(withoutSymbols(graph));
  for (const [i, node] of nodes.entries()) {
    if (node.kind === 'call' && node.form !== 'plain') {
      yield () => withNode(graph, i, { ...node, form: 'plain' });
    }
    if (node.kind === 'constant') yield () => withNode(graph, i, { ...node, kind: 'param' });
    if (node.kind !== 'param' && node.kind !== 'constant') continue;
    for (const [axis, size] of node.value.shape.entries()) {
      if (size > 1) yield () => cut(graph, i, axis);
    }
  }
}

function isAlike(a: GraphNode | undefined, b: GraphNode): boolean {
  return JSON.stringify(a?.type) === JSON.stringify(b.type);
}

function withNode(graph: Graph, index: number, node: GraphNode): Graph {
  return { ...graph, nodes: graph.nodes.with(index, node) };
}

/** Readers of a node read another one instead. */
function replaced(graph: Graph, from: number, to: number): Graph {
  const turn = (input: number): number => (input === from ? to : input);
  const nodes = graph.nodes.map((node) => withInputs(node, inputsOf(node).map(turn)));
  return withoutUnread({ ...graph, nodes, outputs: graph.outputs.map(turn) });
}

function asParameter(graph: Graph, index: number): Graph | undefined {
  const value = valuesOf(graph)?.[index];
  const type = graph.nodes[index]?.type;
  if (value === undefined || type === undefined) return undefined;
  return withoutUnread(withNode(graph, index, { kind: 'param', type, value }));
}

function valuesOf(graph: Graph): HostTensor[] | undefined {
  try {
    const values = evaluateGraph(graph, { random: seededRandom(1), count: 0 });
    return values.map(({ value }) => value);
  } catch {
    return undefined;
  }
}

function withInputs(node: GraphNode, inputs: readonly number[]): GraphNode {
  if (node.kind === 'call') return { ...node, inputs };
  if (node.kind !== 'if') return node;
  const [condition = 0, yes = 0, no = 0] = inputs;
  return { ...node, inputs: [condition, yes, no] };
}

/** The graph without nodes that no output depends on. */
function withoutUnread(graph: Graph): Graph {
  const isRead = new Set(graph.outputs);
  for (const [i, node] of graph.nodes.entries()) if (tellsSize(node)) isRead.add(i);
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    const node = graph.nodes[i];
    if (node !== undefined && isRead.has(i)) for (const input of inputsOf(node)) isRead.add(input);
  }
  const places = new Map([...isRead].sort((a, b) => a - b).map((node, place) => [node, place]));
  const place = (node: number): number => places.get(node) ?? 0;
  const nodes = graph.nodes
    .filter((_, i) => isRead.has(i))
    .map((node) => withInputs(node, inputsOf(node).map(place)));
  return { ...graph, nodes, outputs: graph.outputs.map(place) };
}

/** A parameter that has a symbol as its only dimension. */
function tellsSize({ kind, type }: GraphNode): boolean {
  return kind === 'param' && type.shape.length === 1 && typeof type.shape[0] === 'string';
}

function withoutSymbols({ nodes, outputs, symbols }: Graph): Graph {
  const numbers = nodes.map((node): GraphNode => {
    const type = { ...node.type, shape: concreteShape(node.type.shape, symbols) };
    if (node.kind !== 'call') return { ...node, type };
    return { ...node, type, attributes: concreteAttributes(node.attributes, symbols) };
  });
  return { nodes: numbers, outputs, symbols: new Map() };
}

/** A leaf with the first element of an axis only, or the same for all axes of a symbol. */
function cut(graph: Graph, index: number, axis: number): Graph | undefined {
  const symbol = graph.nodes[index]?.type.shape[axis];
  const isCut = (i: number, at: number): boolean =>
    typeof symbol === 'string'
      ? graph.nodes[i]?.type.shape[at] === symbol
      : i === index && at === axis;
  const nodes = graph.nodes.map((node, i): GraphNode => {
    if (node.kind !== 'param' && node.kind !== 'constant') return node;
    return node.type.shape.reduce<typeof node>((cutSoFar, _, at) => {
      return isCut(i, at) ? firstAlong(cutSoFar, at) : cutSoFar;
    }, node);
  });
  const symbols = new Map(graph.symbols);
  if (typeof symbol === 'string') symbols.set(symbol, 1);
  return retyped({ ...graph, nodes, symbols });
}

function firstAlong<Node extends GraphNode & { readonly value: HostTensor }>(
  node: Node,
  axis: number,
): Node {
  const { shape, data, dtype } = node.value;
  const inner = shape.slice(axis + 1).reduce((count, dim) => count * dim, 1);
  const size = shape[axis] ?? 1;
  const kept = Array.from(data as ArrayLike<number | bigint>).filter(
    (_, i) => Math.floor(i / inner) % size === 0,
  );
  const value = HostTensor.from(dtype, shape.with(axis, 1), kept);
  const dim = node.type.shape[axis];
  const shapeAfter = node.type.shape.with(axis, typeof dim === 'string' ? dim : 1);
  return { ...node, value, type: { dtype, shape: shapeAfter } };
}

/** The graph with the types that follow from those of its leaves; undefined where none do. */
function retyped(graph: Graph): Graph | undefined {
  const nodes: GraphNode[] = [];
  const typeOf = (input: number): TensorType | undefined => nodes[input]?.type;
  for (const node of graph.nodes) {
    const type = typeAgain(node, inputsOf(node).map(typeOf), graph.symbols);
    if (type === undefined) return undefined;
    nodes.push({ ...node, type });
  }
  const retypedGraph = { ...graph, nodes };
  return valuesOf(retypedGraph) === undefined ? undefined : retypedGraph;
}

function typeAgain(
  node: GraphNode,
  operands: readonly (TensorType | undefined)[],
  symbols: Graph['symbols'],
): TensorType | undefined {
  if (node.kind === 'if') {
    const [, yes, no] = operands;
    return JSON.stringify(yes) === JSON.stringify(no) ? yes : undefined;
  }
  if (node.kind !== 'call') return node.type;
  try {
    const { output, checks } = inferCall(
      CORE_OPERATORS.require(node.op),
      operands,
      node.attributes,
    );
    const holds = checks.every(
      ({ left, right }) => evaluateDim(left, symbols) === evaluateDim(right, symbols),
    );
    return holds ? output : undefined;
  } catch {
    return undefined;
  }
}
