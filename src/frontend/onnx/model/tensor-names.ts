import { TRAINING } from './operator-sets.ts';
import type { NodeProto } from '../protobuf/schema.ts';

/**
 * A node with the tensors that its attributes name as further inputs, behind its own: Gradient names those that it
 * differentiates, so it depends on them.
 */
export function withTensorNames(node: NodeProto): NodeProto {
  if (node.domain !== TRAINING || node.opType !== 'Gradient') return node;
  const decoder = new TextDecoder();
  const named = ['xs', 'zs', 'y'].flatMap((name) => {
    const found = node.attribute.find((attribute) => attribute.name === name);
    const texts = name === 'y' ? [found?.s ?? new Uint8Array()] : (found?.strings ?? []);
    return texts.map((bytes) => decoder.decode(bytes));
  });
  return { ...node, input: [...node.input, ...named] };
}
