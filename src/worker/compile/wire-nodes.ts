import { errorFromData, WeftError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type {
  NodeAttributes,
  NodeOutput,
  NodeSignature,
} from '../../core/contracts/node-function.ts';
import type { CallPage, WireAttributes, WireSignature } from '../protocol/wire-value.ts';

/** Attributes of a node as they go to a page or to a compiler's thread. */
export function wireAttributes(attributes: NodeAttributes): WireAttributes {
  const entries = Object.entries(attributes).map(([name, value]) => {
    if (!(value instanceof HostTensor)) return [name, value] as const;
    const { dtype, shape, data } = value;
    return [name, { kind: 'tensor', dtype, shape, data: data.slice() }] as const;
  });
  return Object.fromEntries(entries);
}

export function wireSignature({ attributes, ...node }: NodeSignature): WireSignature {
  return { ...node, attributes: wireAttributes(attributes) };
}

/** Asks a page for the types of the outputs of a node. Rejects with what its function throws. */
export async function askPage(
  callPage: CallPage,
  signature: WireSignature,
): Promise<readonly NodeOutput[]> {
  const reply = await callPage(signature.operator, [], { kind: 'type', signature });
  if (!reply.ok) throw errorFromData(reply.error);
  if (reply.value.kind !== 'string') throw new WeftError('internal: a page gave no type');
  return JSON.parse(reply.value.value) as readonly NodeOutput[];
}
