import { dtypeInfo, isDType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { foldValues, type KindOf } from '../../core/contracts/value-fold.ts';
import { DTypeValue, FloatValue, ShapeValue } from '../../runtime/values/value.ts';
import { LimitError, ProtocolError } from '../errors.ts';
import { MAX_HEAD_BYTE_LENGTH } from '../limits.ts';
import {
  isRecord,
  isRpcValue,
  RPC_SIDE,
  type RpcForms,
  type RpcFunction,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from './rpc-value.ts';

/** First element of a node that is no int, string, boolean or null. */
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
  array: 9,
  list: 10,
  /** Names of the fields of records, which have them in common. */
  names: 11,
  record: 12,
} as const satisfies Record<NodeKind, number>;

type NodeKind =
  | Exclude<KindOf<RpcForms>, 'null' | 'int' | 'string'>
  | 'splat'
  | 'yours'
  | 'array'
  | 'list'
  | 'names'
  | 'record';

const KINDS = new Map<unknown, NodeKind>(
  Object.entries(Code).map(([kind, code]) => [code, kind as NodeKind]),
);

/** Typed arrays by their number in a message: never reuse one. */
const ARRAYS = [
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
] as const;

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
  /** Contents of tensors and typed arrays in order of their numbers. */
  readonly blobs: readonly Uint8Array[];
}

const FLOAT_BYTE_LENGTH = 8;

/**
 * Values and plain data as nodes. A value that appears twice is one node. Data is lists, records (plain objects), typed arrays,
 * booleans, numbers and texts, with values as leaves: fields that are undefined are left out, undefined in a list is null.
 * Throws UsageError for anything else, LimitError for data without an end.
 */
export function encodeValues(roots: readonly unknown[], names: HandleNames): EncodedValues {
  const writer = new NodeWriter(names);
  const written = roots.map((root) => writer.write(root));
  return { nodes: writer.nodes, roots: written, blobs: writer.blobs };
}

/** Lists and records within each other. */
const DEEPEST = 100_000;

function tooDeep(): LimitError {
  return new LimitError({
    where: 'remote call',
    got: `data nested deeper than ${DEEPEST} times`,
    expected: 'data that is no part of itself',
  });
}

/** A list or record whose fields are being written. */
interface OpenNode {
  readonly begin: readonly number[];
  readonly parts: readonly unknown[];
  readonly fields: number[];
}

class NodeWriter {
  readonly nodes: unknown[] = [];
  readonly blobs: Uint8Array[] = [];
  readonly #texts = new Map<string, number>();
  readonly #value: (value: RpcValue) => number;

  constructor(names: HandleNames) {
    const add = (node: unknown): number => this.#add(node);
    this.#value = foldValues<RpcForms, number>(RPC_SIDE, {
      null: add,
      int: add,
      string: (value) => this.#once(value, value),
      float: (value) => add(floatNode(typeof value === 'number' ? value : value.value)),
      dtype: ({ dtype }) => add([Code.dtype, dtype]),
      shape: ({ dims }) => add([Code.shape, [...dims]]),
      tensor: (value) => {
        const bytes = value.storedBytes(0, value.storedByteLength);
        const code = value.isSplat ? Code.splat : Code.tensor;
        return add([code, value.dtype, [...value.shape], this.blobs.push(bytes) - 1]);
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
  }

  /** Lists and records are written each time that they are met, so that who reads them has a tree. Iterative, as lists nest deeply. */
  write(root: unknown): number {
    const open: OpenNode[] = [];
    let value = root;
    for (;;) {
      const opened = this.#open(value);
      let written: number | undefined;
      if (opened === undefined) written = this.#leaf(value);
      else if (open.push(opened) > DEEPEST) throw tooDeep();
      for (let top = open.at(-1); ; top = open.at(-1)) {
        if (written !== undefined) {
          if (top === undefined) return written;
          top.fields.push(written);
          written = undefined;
        }
        if (top === undefined) break;
        if (top.fields.length < top.parts.length) {
          value = top.parts[top.fields.length];
          break;
        }
        open.pop();
        written = this.#add([...top.begin, ...top.fields]);
      }
    }
  }

  #open(value: unknown): OpenNode | undefined {
    if (Array.isArray(value)) return { begin: [Code.list], parts: value, fields: [] };
    if (!isRecord(value)) return undefined;
    const entries = Object.entries(value).filter(([, part]) => part !== undefined);
    const names = entries.map(([name]) => name);
    const shape = this.#once(`names ${JSON.stringify(names)}`, [Code.names, ...names]);
    return { begin: [Code.record, shape], parts: entries.map(([, part]) => part), fields: [] };
  }

  #leaf(value: unknown): number {
    if (typeof value === 'boolean') return this.#add(value);
    if (Object.is(value, -0)) return this.#add(floatNode(-0));
    const array = ARRAYS.findIndex((type) => value instanceof type);
    if (array < 0) return this.#value((value ?? null) as RpcValue);
    const { buffer, byteOffset, byteLength } = value as Uint8Array;
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    return this.#add([Code.array, array, this.blobs.push(bytes) - 1]);
  }

  #add(node: unknown): number {
    // Each takes a byte or more.
    if (this.nodes.length > MAX_HEAD_BYTE_LENGTH) throw headTooLarge(this.nodes.length);
    return this.nodes.push(node) - 1;
  }

  /** Texts are nodes once. */
  #once(key: string, node: unknown): number {
    const known = this.#texts.get(key) ?? this.#add(node);
    this.#texts.set(key, known);
    return known;
  }
}

/** Encodes a float as bytes, because MessagePack's shorter forms lose the sign of zero. */
function floatNode(value: number): unknown {
  const bytes = new Uint8Array(FLOAT_BYTE_LENGTH);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return [Code.float, bytes];
}

interface DecodeOptions {
  readonly names: HandleNames;
  /** Bytes of all tensors and typed arrays, splats counted in full. */
  readonly maxBytes: number;
}

/** Values and data of nodes; tensors and typed arrays are views of the blobs. Throws ProtocolError. */
export function decodeValues(
  { nodes, roots }: WireValues,
  blobs: readonly Uint8Array[],
  options: DecodeOptions,
): unknown[] {
  const reader = new NodeReader(blobs, options);
  for (const node of nodes) reader.read(node);
  return roots.map((index) => reader.take(index));
}

type Fields = readonly unknown[];

class NodeReader {
  /** Undefined for names of fields, and for lists and records that were taken. */
  readonly #values: unknown[] = [];
  readonly #names = new Map<unknown, readonly string[]>();
  readonly #trees = new Set<unknown>();
  readonly #blobs: readonly Uint8Array[];
  readonly #decoders: Record<NodeKind, (fields: Fields) => unknown>;
  #bytesLeft: number;

  constructor(blobs: readonly Uint8Array[], { names, maxBytes }: DecodeOptions) {
    this.#blobs = blobs;
    this.#bytesLeft = maxBytes;
    this.#decoders = {
      float: ([bytes]) => decodeFloat(bytes),
      dtype: ([dtype]) => new DTypeValue(checkDType(dtype)),
      shape: ([dims]) => new ShapeValue(checkInts(dims)),
      tensor: (fields) => this.#tensor(false, fields),
      splat: (fields) => this.#tensor(true, fields),
      adt: ([tag, fields]) => this.#tuple(tag, fields),
      yours: ([id]) => names.own(checkId(id)),
      packed: ([id, name]) =>
        names.importFunction(checkId(id), typeof name === 'string' ? name : ''),
      handle: ([id, dtype, shape]) =>
        names.importTensor(checkId(id), { dtype: checkDType(dtype), shape: checkShape(shape) }),
      array: ([type, blob]) => this.#array(type, blob),
      list: (items) => this.#tree(items.map((index) => this.#part(index))),
      names: (fields) => {
        this.#names.set(this.#values.length, fields.map(checkName));
        return undefined;
      },
      record: ([shape, ...fields]) => this.#record(shape, fields),
    };
  }

  /** A node that was read before; what comes later cannot be a field. A list or record can be that of one other alone. */
  take(index: unknown): unknown {
    const value = typeof index === 'number' ? this.#values[index] : undefined;
    if (value === undefined) throw malformed('a field that is not an earlier node');
    if (this.#trees.has(index)) this.#values[index as number] = undefined;
    return value;
  }

  read(node: unknown): void {
    this.#values.push(this.#decode(node));
  }

  #decode(node: unknown): unknown {
    if (node === null || typeof node === 'string' || typeof node === 'boolean') return node;
    if (typeof node === 'number') {
      if (Number.isSafeInteger(node)) return node;
      throw malformed('an int that is not safe');
    }
    if (!Array.isArray(node)) throw malformed('an unknown node');
    const [code, ...fields] = node as unknown[];
    const kind = KINDS.get(code);
    if (kind === undefined) throw malformed(`a node of kind ${String(code)}`);
    return this.#decoders[kind](fields);
  }

  #tuple(tag: unknown, fields: unknown): RpcTuple {
    if (!Array.isArray(fields)) throw malformed('a tuple without fields');
    return new RpcTuple(
      fields.map((index: unknown) => valueOf(this.take(index))),
      checkId(tag),
    );
  }

  /** A field of data, where floats are numbers. */
  #part(index: unknown): unknown {
    const value = this.take(index);
    return value instanceof FloatValue ? value.value : value;
  }

  #tree<T>(made: T): T {
    this.#trees.add(this.#values.length);
    return made;
  }

  #record(shape: unknown, fields: Fields): unknown {
    const names = this.#names.get(shape);
    if (names?.length !== fields.length) throw malformed('a record with other fields than names');
    return this.#tree(Object.fromEntries(names.map((name, i) => [name, this.#part(fields[i])])));
  }

  #array(type: unknown, blob: unknown): unknown {
    const array = typeof type === 'number' ? ARRAYS[type] : undefined;
    const bytes = typeof blob === 'number' ? this.#blobs[blob] : undefined;
    if (array === undefined || bytes === undefined) throw malformed('an array without bytes');
    this.#count(bytes.byteLength);
    const { BYTES_PER_ELEMENT: size } = array;
    if (bytes.byteLength % size !== 0) throw malformed('an array with a part of an element');
    const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
    return new array(aligned.buffer as ArrayBuffer, aligned.byteOffset, bytes.byteLength / size);
  }

  #count(byteLength: number): void {
    this.#bytesLeft -= byteLength;
    if (this.#bytesLeft < 0) throw malformed('more bytes of tensors than the limit');
  }

  #tensor(isSplat: boolean, [dtype, shape, blob]: Fields): HostTensor {
    const type = checkDType(dtype);
    const dims = checkShape(shape);
    const bytes = typeof blob === 'number' ? this.#blobs[blob] : undefined;
    const elementByteLength = dtypeInfo(type).byteLength;
    const count = elementCount(dims);
    const stored = (isSplat ? 1 : count) * elementByteLength;
    if (bytes === undefined || bytes.byteLength !== stored) {
      throw malformed(`a tensor of ${bytes?.byteLength ?? 'no'} bytes where ${stored} belong`);
    }
    this.#count(count * elementByteLength);
    if (!isSplat) return HostTensor.fromBytes(type, dims, bytes);
    const { elements } = HostTensor.fromBytes(type, [1], bytes);
    return new HostTensor(type, dims, elements, true);
  }
}

/** Throws ProtocolError for data where a value belongs. */
export function valueOf(data: unknown): RpcValue {
  if (isRpcValue(data)) return data;
  throw malformed('data where a value belongs');
}

function decodeFloat(bytes: unknown): FloatValue {
  if (!(bytes instanceof Uint8Array) || bytes.byteLength !== FLOAT_BYTE_LENGTH) {
    throw malformed('a float that is not 8 bytes');
  }
  return new FloatValue(new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true));
}

/** No name that means something to objects themselves. */
function checkName(name: unknown): string {
  if (typeof name === 'string' && name !== '__proto__') return name;
  throw malformed('a field without a name of its own');
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

export function checkShape(dims: unknown): Shape {
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

/** What a message says beside the contents of tensors is too long. */
export function headTooLarge(byteLength: number): LimitError {
  return new LimitError({
    where: 'remote call',
    got: `${byteLength} bytes of values beside the contents of tensors`,
    expected: `at most ${MAX_HEAD_BYTE_LENGTH}`,
    remedy: 'Put long lists into tensors, or send them in several calls.',
  });
}
