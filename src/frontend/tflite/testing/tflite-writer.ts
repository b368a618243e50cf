import { Builder } from 'flatbuffers';
import type { DType } from '../../../core/tensor/dtype.ts';
import { numberToFloat16 } from '../../../core/tensor/float16.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { type OptionName, type Options, OPTIONS } from '../reader/options.ts';
import type { Fields, ValuesOf } from '../reader/flat-table.ts';
import type { Quantization, Sparsity } from '../reader/read-model.ts';
import { CUSTOM, ELSEWHERE, OPERATORS, TENSOR_TYPES } from '../reader/schema.ts';

/** A tensor of a graph: constant where it has data. */
export interface TfliteTensorSpec {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Numbers, float16 among them, or the bytes as they are. */
  readonly data?: readonly number[] | Uint8Array;
  /** The shape with -1 for sizes that callers choose. */
  readonly signature?: readonly number[];
  readonly quantization?: Partial<Quantization>;
  readonly isVariable?: boolean;
  readonly sparsity?: Sparsity;
}

/** Values of options; those that are left out have their defaults. */
export type OptionValues = {
  readonly [N in OptionName]: readonly [
    name: N,
    values: Partial<ValuesOf<(typeof OPTIONS)[N]['fields']>>,
  ];
}[OptionName];

/** An operator; tensors are named, and '' is none. A name that no builtin operator has is a custom one. */
export interface TfliteOperatorSpec {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly options?: OptionValues;
  readonly customOptions?: Uint8Array;
  readonly version?: number;
}

/** A graph; its tensors are in the order of their names. */
export interface TfliteGraphSpec {
  readonly tensors: Readonly<Record<string, TfliteTensorSpec>>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly operators: readonly TfliteOperatorSpec[];
  readonly name?: string;
}

/** A TensorFlow Lite model to be written. */
export interface TfliteModelSpec {
  readonly graphs: readonly TfliteGraphSpec[];
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, Uint8Array>>;
  readonly signatures?: readonly {
    readonly key: string;
    readonly graph?: number;
    /** Tensors by the names that callers have for them. */
    readonly inputs: Readonly<Record<string, string>>;
    readonly outputs: Readonly<Record<string, string>>;
  }[];
  /** Puts data of buffers behind the root, as files beyond 2 GB do. */
  readonly isLarge?: boolean;
}

/** A field of a table: its number, and how it is added. */
type Entry = readonly [id: number, add: (builder: Builder, id: number) => void];

/** The bytes of a model. */
export function writeTflite(spec: TfliteModelSpec): Uint8Array {
  if (spec.isLarge !== true) return new TfliteWriter(spec).write(() => undefined);
  // The places of data depend on the length of the root, which does not depend on them.
  const first = new TfliteWriter(spec);
  const { byteLength } = first.write(() => 2 ** 32);
  let end = Math.ceil(byteLength / 16) * 16;
  const data = first.dataOf();
  const places = data.map((bytes) => {
    const place = end;
    end += Math.ceil(bytes.byteLength / 16) * 16;
    return place;
  });
  const whole = new Uint8Array(end);
  whole.set(new TfliteWriter(spec).write((i) => places[i]));
  for (const [i, bytes] of data.entries()) whole.set(bytes, places[i] ?? 0);
  return whole;
}

class TfliteWriter {
  readonly #builder = new Builder(1024);
  readonly #spec: TfliteModelSpec;
  /** Data by the numbers of buffers, of which the first is empty. */
  readonly #buffers: Uint8Array[] = [new Uint8Array()];
  readonly #codes: { readonly op: string; readonly version: number }[] = [];

  constructor(spec: TfliteModelSpec) {
    this.#spec = spec;
  }

  dataOf(): readonly Uint8Array[] {
    return this.#buffers;
  }

  /** Writes the model; data of a buffer with a place lies there instead. */
  write(placeOf: (buffer: number) => number | undefined): Uint8Array {
    const { graphs, description = '', metadata = {}, signatures = [] } = this.#spec;
    const subgraphs = this.#tables(graphs.map((graph) => () => this.#graph(graph)));
    const facts = this.#tables(
      Object.entries(metadata).map(([name, bytes]) => () => {
        const buffer = this.#buffers.push(bytes) - 1;
        return this.#table([this.#string(0, name), uint32(1, buffer)]);
      }),
    );
    const signed = this.#tables(
      signatures.map(({ key, graph = 0, inputs, outputs }) => () => {
        const map = (names: Readonly<Record<string, string>>) =>
          this.#tables(
            Object.entries(names).map(([name, tensor]) => () => {
              const index = indexOf(graphs[graph], tensor);
              return this.#table([this.#string(0, name), uint32(1, index)]);
            }),
          );
        return this.#table([
          offset(0, map(inputs)),
          offset(1, map(outputs)),
          this.#string(2, key),
          uint32(4, graph),
        ]);
      }),
    );
    const buffers = this.#tables(
      this.#buffers.map((bytes, i) => () => {
        if (bytes.byteLength === 0) return this.#table([]);
        const place = placeOf(i);
        if (place !== undefined) return this.#table([long(1, place), long(2, bytes.byteLength)]);
        this.#builder.prep(16, bytes.byteLength + 4);
        return this.#table([offset(0, this.#builder.createByteVector(bytes))]);
      }),
    );
    const codes = this.#tables(
      this.#codes.map(({ op, version }) => () => {
        const known = OPERATORS.indexOf(op);
        const code = known < 0 ? CUSTOM : known;
        return this.#table([
          int8(0, Math.min(code, ELSEWHERE)),
          ...(known < 0 ? [this.#string(1, op)] : []),
          int32(2, version),
          int32(3, code),
        ]);
      }),
    );
    const root = this.#table([
      uint32(0, 3),
      offset(1, codes),
      offset(2, subgraphs),
      this.#string(3, description),
      offset(4, buffers),
      offset(6, facts),
      offset(7, signed),
    ]);
    this.#builder.finish(root, 'TFL3');
    return this.#builder.asUint8Array();
  }

  #graph(graph: TfliteGraphSpec): number {
    const tensors = this.#tables(
      Object.entries(graph.tensors).map(
        ([name, tensor]) =>
          () =>
            this.#tensor(name, tensor),
      ),
    );
    const operators = this.#tables(
      graph.operators.map((operator) => () => this.#operator(graph, operator)),
    );
    const numbers = (names: readonly string[]) =>
      this.#ints(names.map((name) => indexOf(graph, name)));
    return this.#table([
      offset(0, tensors),
      offset(1, numbers(graph.inputs)),
      offset(2, numbers(graph.outputs)),
      offset(3, operators),
      this.#string(4, graph.name ?? 'main'),
    ]);
  }

  #tensor(name: string, tensor: TfliteTensorSpec): number {
    const { dtype, shape, data, signature, quantization, isVariable = false, sparsity } = tensor;
    const buffer = data === undefined ? 0 : this.#buffers.push(bytesOf(dtype, data)) - 1;
    return this.#table([
      offset(0, this.#ints(shape)),
      int8(
        1,
        TENSOR_TYPES.findIndex(([, known]) => known === dtype),
      ),
      uint32(2, buffer),
      this.#string(3, name),
      ...(quantization === undefined ? [] : [offset(4, this.#quantization(quantization))]),
      int8(5, Number(isVariable)),
      ...(sparsity === undefined ? [] : [offset(6, this.#sparsity(sparsity))]),
      ...(signature === undefined ? [] : [offset(7, this.#ints(signature))]),
      int8(8, 1),
    ]);
  }

  #quantization({ scale = [], zero, axis = 0 }: Partial<Quantization>): number {
    const zeros = zero ?? scale.map(() => 0);
    return this.#table([
      offset(
        2,
        this.#list(4, scale, (value) => this.#builder.addFloat32(value)),
      ),
      offset(
        3,
        this.#list(8, zeros, (value) => this.#builder.addInt64(BigInt(value))),
      ),
      int32(6, axis),
    ]);
  }

  #sparsity({ order, blockMap, dimensions }: Sparsity): number {
    const list = (values: readonly number[]): number =>
      this.#table([offset(0, this.#ints(values))]);
    const tables = dimensions.map(({ size, segments, indices }) => () => {
      if (segments === undefined || indices === undefined) return this.#table([int32(1, size)]);
      return this.#table([
        int8(0, 1),
        int8(2, 1),
        offset(3, list(segments)),
        int8(4, 1),
        offset(5, list(indices)),
      ]);
    });
    return this.#table([
      offset(0, this.#ints(order)),
      ...(blockMap.length === 0 ? [] : [offset(1, this.#ints(blockMap))]),
      offset(2, this.#tables(tables)),
    ]);
  }

  #operator(graph: TfliteGraphSpec, spec: TfliteOperatorSpec): number {
    const { op, inputs, outputs, options, customOptions, version = 1 } = spec;
    const known = this.#codes.findIndex((code) => code.op === op && code.version === version);
    const code = known < 0 ? this.#codes.push({ op, version }) - 1 : known;
    const numbers = (names: readonly string[]) =>
      this.#ints(names.map((name) => (name === '' ? -1 : indexOf(graph, name))));
    const given = options && this.#options(OPTIONS[options[0]], options[1]);
    return this.#table([
      uint32(0, code),
      offset(1, numbers(inputs)),
      offset(2, numbers(outputs)),
      ...(given === undefined || options === undefined
        ? []
        : [int8(3, OPTIONS[options[0]].union), offset(4, given)]),
      ...(customOptions === undefined
        ? []
        : [offset(5, this.#builder.createByteVector(customOptions))]),
    ]);
  }

  #options({ fields }: Options, values: Readonly<Record<string, unknown>>): number {
    return this.#table(
      Object.entries(fields).flatMap(([name, one]): Entry[] => {
        const value = values[name];
        return value === undefined ? [] : [this.#entry(one, value)];
      }),
    );
  }

  #entry({ id, type }: Fields[string], value: unknown): Entry {
    if (type === 'string') return this.#string(id, String(value));
    if (type === 'i32s') return offset(id, this.#ints(value as readonly number[]));
    if (type === 'f32s') {
      const floats = value as readonly number[];
      return offset(
        id,
        this.#list(4, floats, (each) => this.#builder.addFloat32(each)),
      );
    }
    const number = Number(value);
    if (type === 'f32') return [id, (builder) => builder.addFieldFloat32(id, number, 0)];
    return type === 'i32' ? int32(id, number) : int8(id, number);
  }

  #string(id: number, text: string): Entry {
    return offset(id, this.#builder.createString(text));
  }

  #ints(values: readonly number[]): number {
    return this.#list(4, values, (value) => this.#builder.addInt32(value));
  }

  #list(byteLength: number, values: readonly number[], add: (value: number) => void): number {
    this.#builder.startVector(byteLength, values.length, byteLength);
    for (const value of values.toReversed()) add(value);
    return this.#builder.endVector();
  }

  #tables(makers: readonly (() => number)[]): number {
    const offsets = makers.map((make) => make());
    return this.#list(4, offsets, (at) => this.#builder.addOffset(at));
  }

  #table(entries: readonly Entry[]): number {
    this.#builder.startObject(Math.max(0, ...entries.map(([id]) => id + 1)));
    // Defaults are written too: a field that is there needs no default to be read.
    this.#builder.forceDefaults(true);
    for (const [id, add] of entries) add(this.#builder, id);
    return this.#builder.endObject();
  }
}

const offset = (id: number, at: number): Entry => [
  id,
  (builder) => builder.addFieldOffset(id, at, 0),
];
const int8 = (id: number, value: number): Entry => [
  id,
  (builder) => builder.addFieldInt8(id, value, 0),
];
const int32 = (id: number, value: number): Entry => [
  id,
  (builder) => builder.addFieldInt32(id, value, 0),
];
const uint32 = int32;
const long = (id: number, value: number): Entry => [
  id,
  (builder) => builder.addFieldInt64(id, BigInt(value), 0n),
];

function indexOf(graph: TfliteGraphSpec | undefined, name: string): number {
  const index = Object.keys(graph?.tensors ?? {}).indexOf(name);
  if (index < 0) throw new Error(`no tensor ${name}`);
  return index;
}

function bytesOf(dtype: DType, data: readonly number[] | Uint8Array): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (dtype === 'int4') {
    const packed = new Uint8Array(Math.ceil(data.length / 2));
    for (const [i, code] of data.entries()) {
      packed[i >> 1] = (packed[i >> 1] ?? 0) | ((code & 15) << (i % 2 === 0 ? 0 : 4));
    }
    return packed;
  }
  const numbers = dtype === 'float16' ? data.map(numberToFloat16) : data;
  const { elements } = HostTensor.from(dtype, [data.length], numbers);
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}
