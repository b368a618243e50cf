import { FormatError } from '../../../core/errors.ts';
import type { GraphProto, NodeProto } from '../protobuf/schema.ts';

/** The name by which messages call a node: its own, else that of its first output. */
export function nodeName(node: NodeProto): string {
  return node.name || (node.output.find((name) => name !== '') ?? '');
}

export function describeNode(node: NodeProto): string {
  return `node "${nodeName(node)}" (${operatorName(node)})`;
}

/** `Conv`, or `com.example.Fancy` outside ONNX's own domain. */
export function operatorName(node: NodeProto): string {
  const opType = node.opType ?? '';
  return isDefaultDomain(node.domain) ? opType : `${node.domain}.${opType}`;
}

function isDefaultDomain(domain: string | undefined): boolean {
  return domain === undefined || domain === '' || domain === 'ai.onnx';
}

/** Names that a graph finds, rather than computes. */
interface KnownNames {
  /** Those of the graph itself: its inputs and initializers. No node may take one again. */
  readonly own: ReadonlySet<string>;
  /** Returns true if a graph around this one has a value of this name. */
  readonly isOuter: (name: string) => boolean;
}

/**
 * The nodes that the wanted values depend on, each after the nodes whose outputs it reads; nodes of
 * its sub-graphs read for it.
 *
 * Throws FormatError that names the node when a value is defined twice or nowhere, or when nodes
 * depend on each other in a circle.
 */
export function sortNodes(
  nodes: readonly NodeProto[],
  known: KnownNames,
  wanted: readonly string[],
): NodeProto[] {
  const producers = producersOf(nodes, known.own);
  const order: NodeProto[] = [];
  const state = new Map<NodeProto, 'open' | 'done'>();
  for (const value of wanted) {
    const root = producers.get(value);
    if (root === undefined || state.has(root)) continue;
    const stack = [frameOf(root)];
    state.set(root, 'open');
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const read = top.reads[top.next++];
      if (read === undefined) {
        state.set(top.node, 'done');
        order.push(top.node);
        stack.pop();
        continue;
      }
      const producer = producerOf(read, top.node, { producers, known });
      if (producer === undefined || state.get(producer) === 'done') continue;
      if (state.get(producer) === 'open')
        throw circle(
          stack.map(({ node }) => node),
          producer,
        );
      state.set(producer, 'open');
      stack.push(frameOf(producer));
    }
  }
  return order;
}

/** The names that a node reads: its inputs, and those that its sub-graphs read of the graphs around them. */
interface Read {
  readonly name: string;
  readonly isInput: boolean;
}

function frameOf(node: NodeProto): { node: NodeProto; reads: readonly Read[]; next: number } {
  return { node, reads: readsOf(node), next: 0 };
}

export function readsOf(node: NodeProto): readonly Read[] {
  const reads = node.input.map((name): Read => ({ name, isInput: true }));
  for (const { g } of node.attribute) {
    if (g === undefined) continue;
    for (const name of outerReads(g)) reads.push({ name, isInput: false });
  }
  return reads;
}

/** The names that a sub-graph, or one inside it, reads and does not define. */
function outerReads(graph: GraphProto): ReadonlySet<string> {
  const own = new Set<string>();
  for (const { name } of [...graph.input, ...graph.initializer]) own.add(name ?? '');
  for (const { values } of graph.sparseInitializer) own.add(values?.name ?? '');
  const read = new Set(graph.output.map(({ name }) => name ?? ''));
  for (const node of graph.node) {
    for (const name of node.output) own.add(name);
    for (const name of node.input) read.add(name);
    for (const { g } of node.attribute) {
      if (g !== undefined) for (const name of outerReads(g)) read.add(name);
    }
  }
  for (const name of own) read.delete(name);
  read.delete('');
  return read;
}

function producersOf(
  nodes: readonly NodeProto[],
  known: ReadonlySet<string>,
): ReadonlyMap<string, NodeProto> {
  const producers = new Map<string, NodeProto>();
  for (const node of nodes) {
    for (const output of node.output) {
      if (output === '') continue;
      const former = producers.get(output);
      if ((former !== undefined && !replacesConstant(node, former)) || known.has(output)) {
        throw new FormatError({
          where: describeNode(node),
          got: `output "${output}", a name that is taken`,
          expected: 'every value to be defined once',
        });
      }
      producers.set(output, node);
    }
  }
  return producers;
}

/**
 * Tools that resize models append constants under the names of old ones, and runtimes, which turn
 * constants into initializers before all else, take the last.
 */
function replacesConstant(node: NodeProto, former: NodeProto): boolean {
  return node.opType === 'Constant' && former.opType === 'Constant';
}

function producerOf(
  { name: value, isInput }: Read,
  reader: NodeProto,
  { producers, known }: { producers: ReadonlyMap<string, NodeProto>; known: KnownNames },
): NodeProto | undefined {
  const producer = producers.get(value);
  if (producer !== undefined || value === '' || !isInput) return producer;
  if (known.own.has(value) || known.isOuter(value)) return undefined;
  throw new FormatError({
    where: describeNode(reader),
    got: `input "${value}", which nothing defines`,
    expected: 'an input of the graph, an initializer or the output of a node',
  });
}

/** `path` ends with a node that reads what `first`, further up on it, computes. */
function circle(path: readonly NodeProto[], first: NodeProto): FormatError {
  const nodes = path.slice(path.indexOf(first)).map(describeNode);
  const others = nodes.slice(1, MAX_LISTED).join(', ');
  const more = nodes.length > MAX_LISTED ? ` and ${nodes.length - MAX_LISTED} more` : '';
  return new FormatError({
    where: describeNode(first),
    got: `a node that depends on its own output${others === '' ? '' : ` through ${others}${more}`}`,
    expected: 'a graph without cycles',
  });
}

const MAX_LISTED = 8;
