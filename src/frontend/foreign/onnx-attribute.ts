import { readMessage } from '../onnx/protobuf/read-message.ts';
import type { AttributeProto, GraphProto } from '../onnx/protobuf/schema.ts';

/** The version of ONNX's operators that importers of other formats call. */
export const OPSET = 21;

/** An integer, a text, integers, texts, numbers with fractions, or a graph. */
export type OnnxAttribute =
  | number
  | string
  | GraphProto
  | readonly number[]
  | readonly string[]
  | { readonly float: number };

export function attributeOf(name: string, value: OnnxAttribute): AttributeProto {
  const none = { ...readMessage('AttributeProto', new Uint8Array()), name };
  const bytes = (each: string) => new TextEncoder().encode(each);
  if (typeof value === 'number') return { ...none, type: 2, i: BigInt(value) };
  if (typeof value === 'string') return { ...none, type: 3, s: bytes(value) };
  if ('float' in value) return { ...none, type: 1, f: value.float };
  if ('node' in value) return { ...none, type: 5, g: value };
  const texts = value.filter((each) => typeof each === 'string');
  if (texts.length > 0) return { ...none, type: 8, strings: texts.map(bytes) };
  return { ...none, type: 7, ints: BigInt64Array.from(value, BigInt) };
}
