import { dtypeInfo, isDType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { foldValues, type KindOf } from '../../core/contracts/value-fold.ts';
import { DTypeValue, FloatValue, ShapeValue } from '../../runtime/value.ts';
import { ProtocolError } from '../errors.ts';
import {
  RPC_SIDE,
  type RpcForms,
  type RpcFunction,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from './rpc-value.ts';

/** First element of a node that is no int, string or null. */
const Code = {
  float: 0,
  dtype: 1,
  shape: 2,
  tensor: 3,
  /** A tensor whose elements are all the same one. */
  splat: 4,
  adt: 5,
  /** A function or tensor of whoever gets the message, by its handle. */
  yours: 6,
  /** A function of whoever sends it, by its handle. */
  packed: 7,
  /** A tensor of whoever sends it. */
  handle: 8,
} as const satisfies Record<NodeKind, number>;

type NodeKind = Exclude<KindOf<RpcForms>, 'null' | 'int' | 'string'> | 'splat' | 'yours';

const KINDS = new Map<unknown, NodeKind>(
  Object.entries(Code).map(([kind, code]) => [code, kind as NodeKind]),
);

/** Values of a message: nodes whose fields come before them, and which of them are meant. */
export interface WireValues {
  readonly nodes: readonly unknown[];
  readonly roots: readonly number[];
}

/** Where functions and tensors that stay become numbers, and numbers functions and tensors. */
export interface HandleNames {
  exportFunction(callee: RpcFunction): { readonly id: number; readonly isTheirs: boolean };
  exportTensor(tensor: TensorHandle): { readonly id: number; readonly isTheirs: boolean };
  own(id: number): RpcFunction | TensorHandle;
  importFunction(id: number, name: string): RpcFunction;
  importTensor(id: number, view: Pick<TensorHandle, 'dtype' | 'shape'>): TensorHandle;
}

export interface EncodedValues extends WireValues {
  /** Contents of tensors in order of their numbers. */
  readonly blobs: readonly Uint8Array[];
}

const FLOAT_BYTE_LENGTH = 8;

/** Values as nodes; a value that appears twice is one node. Throws UsageError for anything else. */
export function encodeValues(values: readonly RpcValue[], names: HandleNames): EncodedValues {
  const nodes: unknown[] = [];
  const blobs: Uint8Array[] = [];
  const add = (node: unknown): number => nodes.push(node) - 1;
  const encode = foldValues<RpcForms, number>(RPC_SIDE, {
    null: add,
    int: add,
    string: add,
    float: (value) => add(floatNode(typeof value === 'number' ? value : value.value)),
    dtype: ({ dtype }) => add([Code.dtype, dtype]),
    shape: ({ dims }) => add([Code.shape, [...dims]]),
    tensor: (value) => {
      const bytes = value.storedBytes(0, value.storedByteLength);
      const code = value.isSplat ? Code.splat : Code.tensor;
      return add([code, value.dtype, [...value.shape], blobs.push(bytes) - 1]);
    },
    handle: (value) => {
      const { id, isTheirs } = names.exportTensor(value);
      if (isTheirs) return add([Code.yours, id]);
      return add([Code.handle, id, value.dtype, [...value.shape]]);
    },
    packed: (callee) => {
      const { id, isTheirs } = names.exportFunction(callee);
      return add(isTheirs ? [Code.yours, id] : [Code.packed, id, callee.name.slice(0, 200)]);
    },
    adt: ({ tag }, fields) => add([Code.adt, tag, fields]),
  });
  return { nodes, roots: values.map(encode), blobs };
}

/** Encodes a float as bytes, because MessagePack's shorter forms lose the sign of zero. */
function floatNode(value: number): unknown {
  const bytes = new Uint8Array(FLOAT_BYTE_LENGTH);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return [Code.float, bytes];
}

export interface DecodeOptions {
  readonly names: HandleNames;
  /** Bytes of all tensors, splats counted in full. */
  readonly maxBytes: number;
}

/** Values of nodes; tensors are views of the blobs. Throws ProtocolError. */
export function decodeValues(
  { nodes, roots }: WireValues,
  blobs: readonly Uint8Array[],
  options: DecodeOptions,
): RpcValue[] {
  const reader = new NodeReader(blobs, options);
  for (const node of nodes) reader.read(node);
  return roots.map((index) => reader.at(index));
}

class NodeReader {
  readonly #values: RpcValue[] = [];
  readonly #blobs: readonly Uint8Array[];
  readonly #decoders: Record<NodeKind, (a: unknown, b: unknown, c: unknown) => RpcValue>;
  #bytesLeft: number;

  constructor(blobs: readonly Uint8Array[], { names, maxBytes }: DecodeOptions) {
    this.#blobs = blobs;
    this.#bytesLeft = maxBytes;
    this.#decoders = {
      float: decodeFloat,
      dtype: (dtype) => new DTypeValue(checkDType(dtype)),
      shape: (dims) => new ShapeValue(checkInts(dims)),
      tensor: (dtype, shape, blob) => this.#tensor(false, { dtype, shape, blob }),
      splat: (dtype, shape, blob) => this.#tensor(true, { dtype, shape, blob }),
      adt: (tag, fields) => this.#tuple(tag, fields),
      yours: (id) => names.own(checkId(id)),
      packed: (id, name) => names.importFunction(checkId(id), typeof name === 'string' ? name : ''),
      handle: (id, dtype, shape) =>
        names.importTensor(checkId(id), { dtype: checkDType(dtype), shape: checkShape(shape) }),
    };
  }

  /** A node that was read before; what comes later cannot be a field. */
  at(index: unknown): RpcValue {
    const value = typeof index === 'number' ? this.#values[index] : undefined;
    if (value === undefined) throw malformed('a field that is not an earlier node');
    return value;
  }

  read(node: unknown): void {
    this.#values.push(this.#decode(node));
  }

  #decode(node: unknown): RpcValue {
    if (node === null || typeof node === 'string') return node;
    if (typeof node === 'number') {
      if (Number.isSafeInteger(node)) return node;
      throw malformed('an int that is not safe');
    }
    if (!Array.isArray(node)) throw malformed('an unknown node');
    const [code, a, b, c] = node as unknown[];
    const kind = KINDS.get(code);
    if (kind === undefined) throw malformed(`a node of kind ${String(code)}`);
    return this.#decoders[kind](a, b, c);
  }

  #tuple(tag: unknown, fields: unknown): RpcTuple {
    if (!Array.isArray(fields)) throw malformed('a tuple without fields');
    return new RpcTuple(
      fields.map((index: unknown) => this.at(index)),
      checkId(tag),
    );
  }

  #tensor(isSplat: boolean, { dtype, shape, blob }: Record<string, unknown>): HostTensor {
    const type = checkDType(dtype);
    const dims = checkShape(shape);
    const bytes = typeof blob === 'number' ? this.#blobs[blob] : undefined;
    const elementByteLength = dtypeInfo(type).byteLength;
    const count = elementCount(dims);
    const stored = (isSplat ? 1 : count) * elementByteLength;
    if (bytes === undefined || bytes.byteLength !== stored) {
      throw malformed(`a tensor of ${bytes?.byteLength ?? 'no'} bytes where ${stored} belong`);
    }
    this.#bytesLeft -= count * elementByteLength;
    if (this.#bytesLeft < 0) throw malformed('more bytes of tensors than the limit');
    if (!isSplat) return HostTensor.fromBytes(type, dims, bytes);
    const { elements } = HostTensor.fromBytes(type, [1], bytes);
    return new HostTensor(type, dims, elements, true);
  }
}

function decodeFloat(bytes: unknown): FloatValue {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength !== FLOAT_BYTE_LENGTH) {
    throw malformed('a float that is not 8 bytes');
  }
  return new FloatValue(new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true));
}

function checkDType(name: unknown) {
  if (typeof name === 'string' && isDType(name)) return name;
  throw malformed('an unknown dtype');
}

const MAX_RANK = 32;

function checkInts(dims: unknown): Shape {
  if (Array.isArray(dims) && dims.every((dim) => Number.isSafeInteger(dim))) return dims as Shape;
  throw malformed('a shape that is not a list of ints');
}

function checkShape(dims: unknown): Shape {
  const shape = checkInts(dims);
  if (shape.length <= MAX_RANK && shape.every((dim) => dim >= 0)) return shape;
  throw malformed('a shape with negative or too many dimensions');
}

function checkId(id: unknown): number {
  if (Number.isSafeInteger(id) && (id as number) >= 0) return id as number;
  throw malformed('a handle or tag that is not a number from 0 up');
}

export function malformed(got: string): ProtocolError {
  return new ProtocolError({
    where: 'remote connection',
    got,
    expected: 'a message of the protocol',
    remedy: 'Both sides need the same version of Weft.',
  });
}
