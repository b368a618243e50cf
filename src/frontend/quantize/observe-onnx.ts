import { ONNX_SCHEMA } from '../onnx/protobuf/schema.ts';
import { rewriteFields } from '../onnx/protobuf/rewrite-fields.ts';
import { writeMessage } from '../onnx/protobuf/write-message.ts';
import { readModel } from '../onnx/protobuf/read-model.ts';

const MODEL_GRAPH = ONNX_SCHEMA.ModelProto.graph[0];

/**
 * An ONNX model that also gives the values of these names, which nodes of its main graph compute, as outputs behind its
 * own. They have no types, which Weft does not ask for; names of inputs are left out. Throws FormatError for bytes that are no model.
 */
export function observeOnnx(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const { graph } = readModel(bytes);
  const known = new Set([...graph.output, ...graph.input].map(({ name }) => name));
  const output = [...new Set(names)].flatMap((name) => (known.has(name) ? [] : [{ name }]));
  if (output.length === 0) return bytes;
  const more = writeMessage('GraphProto', { output });
  return rewriteFields(bytes, {
    [MODEL_GRAPH]: (graph) => {
      const whole = new Uint8Array(graph.byteLength + more.byteLength);
      whole.set(graph);
      whole.set(more, graph.byteLength);
      return [whole];
    },
  });
}
