import { isExternal } from '../onnx/protobuf/external-data.ts';
import { storedByteLength } from '../onnx/protobuf/tensor-data.ts';
import type { GraphScope } from './graph-scope.ts';

/** Bytes of a model with all tensors in it that lie in other files, before any is rounded: the result is not larger. */
export function modelByteLength(bytes: Uint8Array, main: GraphScope): number {
  let beside = 0;
  for (const { graph } of main.all()) {
    const values = graph.node.flatMap(({ attribute }) => attribute.flatMap(({ t }) => t ?? []));
    for (const tensor of [...graph.initializer, ...values]) {
      if (isExternal(tensor)) beside += storedByteLength(tensor, `tensor "${tensor.name ?? ''}"`);
    }
  }
  return bytes.byteLength + beside;
}
