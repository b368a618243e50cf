import { readMessage } from '../onnx/protobuf/read-message.ts';
import type { OnnxAttribute } from '../foreign/onnx-attribute.ts';
import type {
  AttributeProto,
  GraphProto,
  NodeProto,
  TensorProto,
  ValueInfoProto,
} from '../onnx/protobuf/schema.ts';
import { object, shapeOf, text } from './graph-model.ts';

/** The domain of operators of TensorFlow. */
export const TENSORFLOW = 'tensorflow';

const NOTHING = new Uint8Array();

const DTYPE_CODES = { float32: 1, int32: 6, bool: 9, float16: 10 } as const;

/** The dtypes that TensorFlow.js has, as ONNX counts them. */
export type ElementType = keyof typeof DTYPE_CODES;

export function tensorOf(
  name: string,
  dtype: ElementType,
  dims: readonly number[],
  rawData: Uint8Array,
): TensorProto {
  const none = readMessage('TensorProto', NOTHING);
  return { ...none, name, dataType: DTYPE_CODES[dtype], dims: [...dims], rawData };
}

/** A value of a graph; -1 for a size that callers choose. Without a shape where not even the rank is told. */
export function valueOf(
  name: string,
  dtype?: ElementType,
  shape?: readonly number[],
): ValueInfoProto {
  const none = readMessage('ValueInfoProto', NOTHING);
  if (dtype === undefined) return { ...none, name };
  const dim = shape?.map((size) => ({
    dimValue: size < 0 ? undefined : size,
    dimParam: undefined,
  }));
  const tensorType = { elemType: DTYPE_CODES[dtype], shape: dim && { dim } };
  return { name, type: { ...readMessage('TypeProto', NOTHING), tensorType } };
}

export interface NodeParts {
  readonly opType: string;
  readonly name?: string;
  readonly domain?: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly attribute?: readonly AttributeProto[];
}

export function nodeOf(parts: NodeParts): NodeProto {
  return { ...readMessage('NodeProto', NOTHING), ...parts };
}

export function graphOf(
  name: string,
  parts: Pick<GraphProto, 'node' | 'input' | 'output'> & Partial<GraphProto>,
): GraphProto {
  return { ...readMessage('GraphProto', NOTHING), name, ...parts };
}

/** A graph whose results have names of their own, whatever they are. */
export function graphWith(
  name: string,
  nodes: readonly NodeProto[],
  { inputs, results }: { inputs: readonly string[]; results: readonly string[] },
): GraphProto {
  const output = results.map((_, i) => `${name}/result${i}`);
  const last = results.map((result, i) =>
    nodeOf({ opType: 'Identity', name: result, input: [result], output: output.slice(i, i + 1) }),
  );
  return graphOf(name, {
    node: [...nodes, ...last],
    input: inputs.map((each) => valueOf(each)),
    output: output.map((each) => valueOf(each)),
  });
}

/**
 * An attribute of a node of TensorFlow: a type by its name, a shape as its sizes, -1 for those that are open.
 * Undefined for one of another kind.
 */
export function readAttribute(name: string, given: unknown): OnnxAttribute | undefined {
  const value = object(given, `attribute ${name}`);
  if (value['i'] !== undefined) return Number(value['i']);
  if (value['b'] !== undefined) return value['b'] === true ? 1 : 0;
  if (value['f'] !== undefined) return { float: Number(value['f']) };
  if (value['s'] !== undefined) return decoded(value['s']);
  if (value['type'] !== undefined) return text(value['type'], name);
  if (value['shape'] !== undefined) {
    return shapeOf(value['shape']);
  }
  const { i, s } = object(value['list'], name, {});
  if (Array.isArray(s)) return s.map(decoded);
  return Array.isArray(i) ? i.map(Number) : value['list'] === undefined ? undefined : [];
}

/** Strings are bytes in base 64; older converters list the bytes. */
function decoded(given: unknown): string {
  if (Array.isArray(given)) return String.fromCharCode(...given.map(Number));
  return atob(text(given, 'a string'));
}
