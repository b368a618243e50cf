import type { FileWindow } from '../../core/bytes/file-window.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { importTflite } from '../../frontend/tflite/compile-tflite.ts';
import { modelOfBundle } from '../../frontend/tflite/reader/bundle.ts';
import { type LiteTensor, readModel } from '../../frontend/tflite/reader/read-model.ts';
import { TENSOR_TYPES } from '../../frontend/tflite/reader/schema.ts';
import { countNames, type ModelHead } from './model-head.ts';

/**
 * Facts of a TensorFlow Lite model, and whether Weft imports it. The file is read whole, because what it holds lies in no order. Throws
 * FormatError for a damaged one.
 */
export async function readLiteHead(file: FileWindow): Promise<ModelHead> {
  const bytes = modelOfBundle(await file.exactly(0, file.byteLength));
  const { graphs } = readModel(bytes);
  const [main] = graphs;
  const tensors = graphs.flatMap((graph) => graph.tensors);
  const describe = (index: number): string => {
    const tensor = main.tensors[index];
    return tensor === undefined ? '' : describeTensor(tensor);
  };
  return {
    format: 'tflite',
    byteLength: file.byteLength,
    readByteLength: file.readByteLength,
    weightByteLength: tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0),
    inputs: main.inputs.map(describe),
    outputs: main.outputs.map(describe),
    operators: countNames(graphs.flatMap((graph) => graph.operators.map(({ name }) => name))),
    refusal: refusalOf(bytes),
    work: undefined,
  };
}

function describeTensor({ name, type, shape, signature = shape }: LiteTensor): string {
  return `${name}: ${TENSOR_TYPES[type]?.[0]} [${signature.join(', ')}]`;
}

function refusalOf(bytes: Uint8Array): string | undefined {
  try {
    importTflite(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedError) return error.message;
    throw error;
  }
}
