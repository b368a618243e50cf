import { FormatError } from '../../core/errors.ts';
import type { NodeProto } from './protobuf/schema.ts';

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

/**
 * The nodes that the wanted values depend on, each after the nodes whose outputs it reads.
 *
 * Throws FormatError that names the node when a value is defined twice or nowhere, or when nodes
 * depend on each other in a circle.
 */
export function sortNodes(
  nodes: readonly NodeProto[],
  given: ReadonlySet<string>,
  wanted: readonly string[],
): NodeProto[] {
  const producers = producersOf(nodes, given);
  const order: NodeProto[] = [];
  const state = new Map<NodeProto, 'open' | 'done'>();
  for (const value of wanted) {
    const root = producers.get(value);
    if (root === undefined || state.has(root)) continue;
    const stack = [{ node: root, next: 0 }];
    state.set(root, 'open');
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const input = top.node.input[top.next++];
      if (input === undefined) {
        state.set(top.node, 'done');
        order.push(top.node);
        stack.pop();
        continue;
      }
      const producer = producerOf(input, top.node, { producers, given });
      if (producer === undefined || state.get(producer) === 'done') continue;
      if (state.get(producer) === 'open') throw circle(producer);
      state.set(producer, 'open');
      stack.push({ node: producer, next: 0 });
    }
  }
  return order;
}

function producersOf(
  nodes: readonly NodeProto[],
  given: ReadonlySet<string>,
): ReadonlyMap<string, NodeProto> {
  const producers = new Map<string, NodeProto>();
  for (const node of nodes) {
    for (const output of node.output) {
      if (output === '') continue;
      const former = producers.get(output);
      if ((former !== undefined && !replacesConstant(node, former)) || given.has(output)) {
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
  value: string,
  reader: NodeProto,
  { producers, given }: { producers: ReadonlyMap<string, NodeProto>; given: ReadonlySet<string> },
): NodeProto | undefined {
  const producer = producers.get(value);
  if (producer !== undefined || value === '' || given.has(value)) return producer;
  throw new FormatError({
    where: describeNode(reader),
    got: `input "${value}", which nothing defines`,
    expected: 'an input of the graph, an initializer or the output of a node',
  });
}

function circle(node: NodeProto): FormatError {
  return new FormatError({
    where: describeNode(node),
    got: 'a node that depends on its own output',
    expected: 'a graph without circles',
  });
}
