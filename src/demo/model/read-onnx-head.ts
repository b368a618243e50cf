import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { checkOnnxHead } from '../../frontend/onnx/model/check-onnx-head.ts';
import { DATA_TYPES } from '../../frontend/onnx/protobuf/read-tensor.ts';
import { type Field, fieldsOf } from '../../frontend/onnx/protobuf/fields-of.ts';
import { readMessage } from '../../frontend/onnx/protobuf/read-message.ts';
import type { NodeProto, ValueInfoProto } from '../../frontend/onnx/protobuf/schema.ts';
import type { FileWindow } from '../../core/bytes/file-window.ts';
import { countNames, type ModelHead } from './model-head.ts';
import { onnxWork, type Weight } from './onnx-work.ts';

/** Fields of ModelProto, GraphProto and TensorProto. */
const GRAPH = 7;
const FUNCTION = 25;
const [NODE, INITIALIZER, INPUT, OUTPUT] = [1, 5, 11, 12];
/** Of a weight only its name, type and sizes are read; their fields are shorter than this. */
const SMALL_FIELD_BYTES = 512;
/** Weights that are far apart take a read each. */
const MOST_READS = 400;

/** Contents of a graph without the elements of its weights. */
interface GraphFacts {
  readonly nodes: NodeProto[];
  /** The nodes as they are in the file, for the check of operators. */
  readonly nodeBytes: Uint8Array[];
  readonly weights: Map<string, Weight>;
  readonly inputs: ValueInfoProto[];
  readonly outputs: ValueInfoProto[];
  hasFunctions: boolean;
}

/**
 * Reads nodes, inputs, outputs and the shapes of weights of an ONNX file, and skips the weights themselves. Throws
 * FormatError for a file that is no ONNX model.
 */
export async function readOnnxHead(file: FileWindow): Promise<ModelHead> {
  const facts: GraphFacts = {
    nodes: [],
    nodeBytes: [],
    weights: new Map(),
    inputs: [],
    outputs: [],
    hasFunctions: false,
  };
  let hasGraph = false;
  for await (const field of fieldsOf(file, 0, file.byteLength)) {
    if (field.number === FUNCTION) facts.hasFunctions = true;
    if (field.number !== GRAPH) continue;
    hasGraph = true;
    await readGraph(file, field, facts);
  }
  if (!hasGraph) {
    throw new FormatError({ where: 'the file', got: 'no graph', expected: 'an ONNX model' });
  }
  const { nodes, weights, outputs } = facts;
  const inputs = facts.inputs.filter(({ name = '' }) => !weights.has(name));
  return {
    format: 'onnx',
    byteLength: file.byteLength,
    readByteLength: file.readByteLength,
    weightByteLength: [...weights.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    inputs: inputs.map(describeValue),
    outputs: outputs.map(describeValue),
    operators: countNames(nodes.map(({ opType = '' }) => opType)),
    refusal: facts.hasFunctions ? undefined : refusalOf(facts.nodeBytes),
    work: onnxWork(nodes, weights, new Map(inputs.map((info) => [info.name ?? '', shapeOf(info)]))),
  };
}

async function readGraph(file: FileWindow, graph: Field, facts: GraphFacts): Promise<void> {
  for await (const { number, begin, end } of fieldsOf(file, graph.begin, graph.end)) {
    if (file.reads > MOST_READS) return;
    if (number === INITIALIZER) await readWeight(file, { number, begin, end }, facts.weights);
    if (number !== NODE && number !== INPUT && number !== OUTPUT) continue;
    // The window goes on while messages look at these bytes.
    const bytes = (await file.exactly(begin, end)).slice();
    if (number === NODE) {
      facts.nodes.push(readMessage('NodeProto', bytes));
      facts.nodeBytes.push(bytes);
    } else {
      const list = number === INPUT ? facts.inputs : facts.outputs;
      list.push(readMessage('ValueInfoProto', bytes));
    }
  }
}

async function readWeight(
  file: FileWindow,
  tensor: Field,
  weights: Map<string, Weight>,
): Promise<void> {
  const small: Uint8Array[] = [];
  let at = tensor.begin;
  for await (const { end } of fieldsOf(file, tensor.begin, tensor.end)) {
    if (end - at <= SMALL_FIELD_BYTES) small.push((await file.exactly(at, end)).slice());
    at = end;
  }
  const bytes = new Uint8Array(await new Blob(small as BlobPart[]).arrayBuffer());
  const { name = '', dims, dataType = 0 } = readMessage('TensorProto', bytes);
  const dtype = DATA_TYPES[dataType]?.dtype;
  const count = dims.reduce((product, size) => product * size, 1);
  const byteLength = dtype === undefined ? 0 : count * dtypeInfo(dtype).byteLength;
  weights.set(name, { shape: dims, byteLength });
}

/**
 * The message with which `checkOnnxHead` refuses a model of these nodes alone; undefined if it
 * accepts them.
 */
function refusalOf(nodes: readonly Uint8Array[]): string | undefined {
  const writer = new BinaryWriter().tag(GRAPH, WireType.LengthDelimited).fork();
  for (const node of nodes) writer.tag(NODE, WireType.LengthDelimited).bytes(node);
  try {
    checkOnnxHead(writer.join().finish());
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedError) return error.message;
    throw error;
  }
}

function describeValue(info: ValueInfoProto): string {
  const tensor = info.type?.tensorType;
  const dtype = DATA_TYPES[tensor?.elemType ?? 0]?.name ?? 'of any type';
  const dims = tensor?.shape?.dim.map(({ dimValue, dimParam }) => dimValue ?? (dimParam || '?'));
  return `${info.name}: ${dtype}${dims === undefined ? '' : ` [${dims.join(', ')}]`}`;
}

/** Sizes of an input, undefined where they are free; undefined for no tensor, or one of any rank. */
function shapeOf({ type }: ValueInfoProto): readonly (number | undefined)[] | undefined {
  return type?.tensorType?.shape?.dim.map(({ dimValue }) => dimValue);
}
