import { FormatError } from '../../../core/errors.ts';
import { readMessage } from './read-message.ts';
import type { GraphProto, ModelProto } from './schema.ts';

/** Throws FormatError for bytes that are no model with a graph. */
export function readModel(bytes: Uint8Array): { model: ModelProto; graph: GraphProto } {
  const model = readMessage('ModelProto', bytes);
  const { graph } = model;
  if (graph !== undefined) return { model, graph };
  throw new FormatError({ where: 'ONNX model', got: 'no graph', expected: 'one' });
}
