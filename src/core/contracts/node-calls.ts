import { isDType } from '../tensor/dtype.ts';
import { FormatError } from '../errors.ts';
import { HostTensor } from '../tensor/host-tensor.ts';
import { NODE_CALLS } from './node-calls-key.ts';
import type { NodeAttributes, NodeAttributeValue } from './node-function.ts';

/** The nodes of a model that a packed function computes. */
export interface NodeCall {
  /** The operator of the nodes, under which whoever loads the program supplies the function. */
  readonly operator: string;
  /** Inputs of the nodes, those that they leave out included. */
  readonly inputCount: number;
  readonly inputs: readonly number[];
  readonly attributes: NodeAttributes;
  /** The nodes, for messages: `node "a" (Op)`. */
  readonly nodes: readonly string[];
}

/** Calls by the names of their packed functions. */
export type NodeCalls = ReadonlyMap<string, NodeCall>;

export function nodeCallsToJson(calls: NodeCalls): string {
  const plain = Array.from(calls, ([name, call]) => {
    const attributes = Object.entries(call.attributes).map(([key, value]) => [key, toPlain(value)]);
    return [name, { ...call, attributes: Object.fromEntries(attributes) }];
  });
  return JSON.stringify(Object.fromEntries(plain));
}

/** The inverse of {@link nodeCallsToJson}. Throws FormatError for what it does not write. */
export function nodeCallsFromJson(text: string): NodeCalls {
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, PlainCall>);
    return new Map(entries.map(([name, call]) => [name, fromPlainCall(call)]));
  } catch (cause) {
    const where = `metadata, ${NODE_CALLS}`;
    throw new FormatError({ where, got: text.slice(0, 100), expected: 'calls' }, { cause });
  }
}

/** JSON has no infinities and no tensors: numbers are texts, and a word says what a value is. */
type Plain = readonly [kind: string, ...parts: readonly (string | readonly number[])[]];
type PlainCall = Omit<NodeCall, 'attributes'> & {
  readonly attributes: Readonly<Record<string, Plain>>;
};

function toPlain(value: NodeAttributeValue): Plain {
  if (typeof value === 'number') return ['number', String(value)];
  if (typeof value === 'string') return ['string', value];
  if (value instanceof HostTensor) {
    const { dtype, shape, data } = value;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    return ['tensor', dtype, shape, base64];
  }
  const kind = value.some((element) => typeof element === 'string') ? 'strings' : 'numbers';
  return [kind, ...value.map(String)];
}

function fromPlainCall({ attributes, ...call }: PlainCall): NodeCall {
  const { operator, inputCount, inputs, nodes } = call;
  const isCall =
    typeof operator === 'string' &&
    Number.isSafeInteger(inputCount) &&
    inputs.every((index) => Number.isSafeInteger(index)) &&
    nodes.every((node) => typeof node === 'string');
  if (!isCall) throw new TypeError('no call of a node');
  const read = Object.entries(attributes).map(([key, value]) => [key, fromPlain(value)] as const);
  return { ...call, attributes: Object.fromEntries(read) };
}

function fromPlain([kind, ...parts]: Plain): NodeAttributeValue {
  const [first, second, third] = parts;
  if (kind === 'tensor') return readTensor(String(first), second, String(third));
  const texts = parts.map(String);
  if (kind === 'numbers') return texts.map(Number);
  if (kind === 'strings') return texts;
  if (kind === 'number') return Number(first);
  if (kind === 'string') return String(first);
  throw new TypeError(`no attribute ${kind}`);
}

function readTensor(dtype: string, shape: Plain[1] | undefined, base64: string): HostTensor {
  if (!isDType(dtype) || typeof shape !== 'object') throw new TypeError('no tensor');
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return HostTensor.fromBytes(dtype, shape, bytes);
}
