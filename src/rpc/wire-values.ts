import { dtypeInfo, isDType } from '../core/dtype.ts';
import { UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { elementCount, type Shape } from '../core/shape.ts';
import { DTypeValue, FloatValue, ShapeValue } from '../runtime/value.ts';
import { ProtocolError } from './errors.ts';
import { foldTree } from './fold-tree.ts';
import { type RpcFunction, RpcTuple, type RpcValue, type TensorHandle } from './rpc-value.ts';

/** First element of a node that is no int, string or null. */
const Kind = {
  float: 0,
  dtype: 1,
  shape: 2,
  tensor: 3,
  splat: 4,
  tuple: 5,
  /** A function or tensor of whoever gets the message, by its handle. */
  yours: 6,
  myFunction: 7,
  myTensor: 8,
} as const;

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

/** Values as nodes. What appears twice is one node. Throws UsageError for what is no value. */
export function encodeValues(values: readonly RpcValue[], names: HandleNames): EncodedValues {
  const nodes: unknown[] = [];
  const blobs: Uint8Array[] = [];
  const known = new Map<unknown, number>();
  const leaf = (value: RpcValue): number => {
    const isObject = typeof value === 'object' || typeof value === 'function';
    const seen = isObject ? known.get(value) : undefined;
    if (seen !== undefined) return seen;
    const index = nodes.push(encodeLeaf(value, names, blobs)) - 1;
    if (isObject) known.set(value, index);
    return index;
  };
  const tuples = new Map<RpcTuple, number>();
  const roots = values.map((value) =>
    foldTree<RpcValue, RpcTuple, number>(value, {
      isNode: (candidate) => candidate instanceof RpcTuple,
      fields: ({ fields }) => fields,
      leaf,
      node: (tuple, fields) => {
        const index = tuples.get(tuple) ?? nodes.push([Kind.tuple, tuple.tag, fields]) - 1;
        tuples.set(tuple, index);
        return index;
      },
    }),
  );
  return { nodes, roots, blobs };
}

function encodeLeaf(value: RpcValue, names: HandleNames, blobs: Uint8Array[]): unknown {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : floatNode(value);
  if (typeof value === 'function') {
    const { id, isTheirs } = names.exportFunction(value);
    return isTheirs ? [Kind.yours, id] : [Kind.myFunction, id, value.name.slice(0, 200)];
  }
  if (value instanceof FloatValue) return floatNode(value.value);
  if (value instanceof DTypeValue) return [Kind.dtype, value.dtype];
  if (value instanceof ShapeValue) return [Kind.shape, [...value.dims]];
  if (value instanceof HostTensor) {
    const bytes = value.storedBytes(0, value.storedByteLength);
    const kind = value.isSplat ? Kind.splat : Kind.tensor;
    return [kind, value.dtype, [...value.shape], blobs.push(bytes) - 1];
  }
  if ('kind' in value && value.kind === 'tensor handle') {
    const { id, isTheirs } = names.exportTensor(value);
    return isTheirs ? [Kind.yours, id] : [Kind.myTensor, id, value.dtype, [...value.shape]];
  }
  throw new UsageError({
    where: 'remote call',
    got: `a ${Object.prototype.toString.call(value).slice(8, -1)}`,
    expected: 'a number, string, shape, tensor, function, handle, or an array of these',
  });
}

/** As bytes, because MessagePack's shorter forms lose the sign of zero. */
function floatNode(value: number): unknown {
  const bytes = new Uint8Array(FLOAT_BYTE_LENGTH);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return [Kind.float, bytes];
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
  readonly #names: HandleNames;
  #bytesLeft: number;

  constructor(blobs: readonly Uint8Array[], { names, maxBytes }: DecodeOptions) {
    this.#blobs = blobs;
    this.#names = names;
    this.#bytesLeft = maxBytes;
  }

  /** A node that was read before; what comes later cannot be a field. */
  at(index: unknown): RpcValue {
    const value = typeof index === 'number' ? this.#values[index] : undefined;
    if (value === undefined) throw malformed('a field that is no earlier node');
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
    const [kind, a, b, c] = node as unknown[];
    switch (kind) {
      case Kind.float:
        return decodeFloat(a);
      case Kind.dtype:
        return new DTypeValue(checkDType(a));
      case Kind.shape:
        return new ShapeValue(checkInts(a));
      case Kind.tensor:
      case Kind.splat:
        return this.#tensor(kind === Kind.splat, { dtype: a, shape: b, blob: c });
      case Kind.tuple:
        return this.#tuple(a, b);
      case Kind.yours:
        return this.#names.own(checkId(a));
      case Kind.myFunction:
        return this.#names.importFunction(checkId(a), typeof b === 'string' ? b : '');
      case Kind.myTensor:
        return this.#names.importTensor(checkId(a), { dtype: checkDType(b), shape: checkShape(c) });
      default:
        throw malformed(`a node of kind ${String(kind)}`);
    }
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
  throw malformed('a shape that is no list of ints');
}

function checkShape(dims: unknown): Shape {
  const shape = checkInts(dims);
  if (shape.length <= MAX_RANK && shape.every((dim) => dim >= 0)) return shape;
  throw malformed('a shape with negative or too many dimensions');
}

function checkId(id: unknown): number {
  if (Number.isSafeInteger(id) && (id as number) >= 0) return id as number;
  throw malformed('a handle or tag that is no number from 0 up');
}

export function malformed(got: string): ProtocolError {
  return new ProtocolError({
    where: 'remote session',
    got,
    expected: 'a message of the protocol',
    remedy: 'Both sides need the same version of Weft.',
  });
}
