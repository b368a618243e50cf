import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { UsageError } from '../../core/errors.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import { shortList } from '../../core/short-list.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { dtypeFromOnnx } from '../onnx/protobuf/read-tensor.ts';
import { mergeDraft, rewriteFields } from '../onnx/protobuf/rewrite-fields.ts';
import { ONNX_SCHEMA } from '../onnx/protobuf/schema.ts';
import { inlineData } from '../onnx/protobuf/tensor-data.ts';
import { readModel } from '../onnx/protobuf/read-model.ts';

export type NamedTensors = Readonly<Record<string, HostTensor>>;

const MODEL_GRAPH = ONNX_SCHEMA.ModelProto.graph[0];
const GRAPH_INITIALIZER = ONNX_SCHEMA.GraphProto.initializer[0];

/**
 * An ONNX model with other values of some initializers, of the dtypes and shapes that they have there. All else stays
 * as it is, byte by byte. An initializer that lay in another file lies in the model then.
 *
 * Throws FormatError for bytes that are no model, UsageError for names that are no initializers of the main graph, and
 * for tensors of another dtype or shape.
 */
export function exportOnnx(model: Uint8Array, weights: NamedTensors): Uint8Array {
  const { graph } = readModel(model);
  const known = new Map(graph.initializer.map((tensor) => [tensor.name ?? '', tensor]));
  for (const [name, { dtype, shape }] of Object.entries(weights)) {
    const written = known.get(name);
    const where = `initializer ${JSON.stringify(name)}`;
    if (written === undefined) {
      const names = shortList([...known.keys()].map((each) => JSON.stringify(each)));
      throw new UsageError({ where, got: 'no such one', expected: `one of ${names}` });
    }
    const expected = `${dtypeFromOnnx(written.dataType, where)} ${formatShape([...written.dims])}`;
    const got = `${dtype} ${formatShape(shape)}`;
    if (got !== expected) throw new UsageError({ where, got, expected });
  }
  const withWeight = (bytes: Uint8Array): Uint8Array => {
    const { name = '' } = readMessage('TensorProto', bytes);
    const value = Object.hasOwn(weights, name) ? weights[name] : undefined;
    return value === undefined ? bytes : mergeDraft('TensorProto', bytes, inlineData(value.bytes));
  };
  return rewriteFields(model, {
    [MODEL_GRAPH]: (graphBytes) => [
      rewriteFields(graphBytes, { [GRAPH_INITIALIZER]: (bytes) => [withWeight(bytes)] }),
    ],
  });
}
