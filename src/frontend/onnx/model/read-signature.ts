import type { DType } from '../../../core/tensor/dtype.ts';
import { FormatError } from '../../../core/errors.ts';
import type { FileWindow } from '../../../core/bytes/file-window.ts';
import { declaredDim } from './declared-type.ts';
import { fieldsOf } from '../protobuf/fields-of.ts';
import { readMessage } from '../protobuf/read-message.ts';
import { dtypeFromOnnx } from '../protobuf/read-tensor.ts';
import type { ValueInfoProto } from '../protobuf/schema.ts';

/** An input of a model as its head declares it. */
interface DeclaredInput {
  readonly name: string;
  /** `any` for what is no tensor, or has no rank. */
  readonly dtype: DType | 'any';
  /** Sizes, names of sizes, and `?`. */
  readonly shape: readonly (number | string)[];
}

/** Fields of ModelProto, GraphProto and TensorProto. */
const GRAPH = 7;
const [INITIALIZER, INPUT] = [5, 11];
const TENSOR_NAME = 8;

/**
 * The inputs of an ONNX model, of which names and types are read and no weights. Initializers that are inputs as well
 * have values, and are none. Throws FormatError for a file that is no ONNX model, UnsupportedError for inputs of strings.
 */
export async function readOnnxInputs(file: FileWindow): Promise<readonly DeclaredInput[]> {
  const inputs: ValueInfoProto[] = [];
  const initializers = new Set<string>();
  let hasGraph = false;
  for await (const field of fieldsOf(file, 0, file.byteLength)) {
    if (field.number !== GRAPH) continue;
    hasGraph = true;
    for await (const { number, begin, end } of fieldsOf(file, field.begin, field.end)) {
      if (number === INPUT) {
        inputs.push(readMessage('ValueInfoProto', (await file.exactly(begin, end)).slice()));
      }
      if (number === INITIALIZER) initializers.add(await nameOf(file, begin, end));
    }
  }
  if (!hasGraph) {
    throw new FormatError({ where: 'the file', got: 'no graph', expected: 'an ONNX model' });
  }
  return inputs.filter(({ name = '' }) => !initializers.has(name)).map(declaredInput);
}

/** The name of a tensor, which may stand behind its elements. */
async function nameOf(file: FileWindow, begin: number, end: number): Promise<string> {
  for await (const field of fieldsOf(file, begin, end)) {
    if (field.number !== TENSOR_NAME) continue;
    return new TextDecoder().decode(await file.exactly(field.begin, field.end));
  }
  return '';
}

function declaredInput({ name = '', type }: ValueInfoProto): DeclaredInput {
  const tensor = type?.tensorType;
  if (tensor?.shape === undefined) return { name, dtype: 'any', shape: [] };
  const dtype = dtypeFromOnnx(tensor.elemType, `input "${name}"`);
  const shape = tensor.shape.dim.map((dim) => declaredDim(dim) ?? '?');
  return { name, dtype, shape };
}
