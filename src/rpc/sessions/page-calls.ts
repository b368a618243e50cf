import { errorFromData, errorToData } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { CallPage, PageNode, WireAttributes } from '../../worker/protocol/wire-value.ts';
import { objectOf, textOf, tupleOf } from '../values/checked-values.ts';
import { type RpcFunction, RpcTuple, type RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import { fromRpcValues, type SessionEnds, toRpcValues } from './session-messages.ts';

// Functions of the page, which a session on a served device calls. One function of the connection stands for all
// of a `CallPage`: it takes the name of a function, a tuple of arguments, and for a node of a model its attributes.

/** The side of the page. With `own` it stands for the function of that name alone. */
export function pageCallee(callPage: CallPage, ends: SessionEnds, own?: string): RpcFunction {
  const callee = async (name: RpcValue, args: RpcValue, node: RpcValue = null) => {
    const wires = fromRpcValues(args, ends);
    const reply = await callPage(own ?? textOf(name), wires, fromRpcNode(node));
    if (!reply.ok) throw errorFromData(reply.error);
    return toRpcValues([reply.value], ends).fields[0] ?? null;
  };
  return own === undefined ? callee : Object.defineProperty(callee, 'name', { value: own });
}

/** The side of the device: the inverse of {@link pageCallee}. Never rejects. */
export function callPageBy(callee: RpcFunction, ends: SessionEnds): CallPage {
  return async (name, args, node) => {
    try {
      const sent = node === undefined ? null : toRpcNode(node);
      const result = (await callee(name, toRpcValues(args, ends), sent)) as RpcValue;
      const [value] = fromRpcValues(new RpcTuple([result]), ends);
      return { ok: true, value: value ?? { kind: 'null' } };
    } catch (error) {
      return { ok: false, error: errorToData(error) };
    }
  };
}

/** Attributes as JSON, and those that are tensors beside it. */
function toRpcNode(node: PageNode): RpcValue {
  if (node.kind !== 'run') throw new Error('internal: types are asked for where the model is read');
  const plain: Record<string, unknown> = {};
  const tensors: RpcValue[] = [];
  for (const [name, value] of Object.entries(node.attributes)) {
    if (typeof value !== 'object' || !('kind' in value)) plain[name] = value;
    else tensors.push(name, new HostTensor(value.dtype, value.shape, value.data));
  }
  return new RpcTuple([JSON.stringify(plain), ...tensors]);
}

function fromRpcNode(node: RpcValue): PageNode | undefined {
  if (node === null) return undefined;
  const [plain, ...tensors] = tupleOf(node).fields;
  const attributes = new Map(Object.entries(objectOf(plain)));
  for (let i = 0; i < tensors.length; i += 2) {
    const tensor = tensors[i + 1];
    if (!(tensor instanceof HostTensor)) throw malformed('an attribute that is not a tensor');
    const { dtype, shape, data } = tensor;
    attributes.set(textOf(tensors[i]), { kind: 'tensor', dtype, shape, data });
  }
  return { kind: 'run', attributes: Object.fromEntries(attributes) as WireAttributes };
}
