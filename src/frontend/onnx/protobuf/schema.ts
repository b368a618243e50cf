/**
 * The messages of ONNX's `onnx.proto` that the importer reads: field name to field number and type.
 * Fields that are not listed are skipped. Types:
 * - `int`: an int64, uint64, int32 or enum as a number, saturated at the safe integers;
 * - `bigint`: an int64 as it is;
 * - `ints`, `floats`, `doubles`, `bigints`, `biguints`: repeated numbers, packed or not;
 * - `bytes`: a view of the file's bytes;
 * - another message's name, singular; `[name]`: repeated.
 */
export const ONNX_SCHEMA = {
  ModelProto: {
    irVersion: [1, 'int'],
    producerName: [2, 'string'],
    graph: [7, 'GraphProto'],
    opsetImport: [8, ['OperatorSetIdProto']],
    functions: [25, ['FunctionProto']],
  },
  OperatorSetIdProto: { domain: [1, 'string'], version: [2, 'int'] },
  FunctionProto: {
    name: [1, 'string'],
    input: [4, ['string']],
    output: [5, ['string']],
    attribute: [6, ['string']],
    node: [7, ['NodeProto']],
    opsetImport: [9, ['OperatorSetIdProto']],
    domain: [10, 'string'],
    attributeProto: [11, ['AttributeProto']],
    overload: [13, 'string'],
  },
  GraphProto: {
    node: [1, ['NodeProto']],
    name: [2, 'string'],
    initializer: [5, ['TensorProto']],
    input: [11, ['ValueInfoProto']],
    output: [12, ['ValueInfoProto']],
    sparseInitializer: [15, ['SparseTensorProto']],
  },
  NodeProto: {
    input: [1, ['string']],
    output: [2, ['string']],
    name: [3, 'string'],
    opType: [4, 'string'],
    attribute: [5, ['AttributeProto']],
    domain: [7, 'string'],
    overload: [8, 'string'],
  },
  AttributeProto: {
    name: [1, 'string'],
    f: [2, 'float'],
    i: [3, 'bigint'],
    s: [4, 'bytes'],
    t: [5, 'TensorProto'],
    g: [6, 'GraphProto'],
    floats: [7, 'floats'],
    ints: [8, 'bigints'],
    strings: [9, ['bytes']],
    type: [20, 'int'],
    tp: [14, 'TypeProto'],
    refAttrName: [21, 'string'],
    sparseTensor: [22, 'SparseTensorProto'],
  },
  TensorProto: {
    dims: [1, 'ints'],
    dataType: [2, 'int'],
    floatData: [4, 'floats'],
    int32Data: [5, 'ints'],
    stringData: [6, ['bytes']],
    int64Data: [7, 'bigints'],
    name: [8, 'string'],
    rawData: [9, 'bytes'],
    doubleData: [10, 'doubles'],
    uint64Data: [11, 'biguints'],
    externalData: [13, ['StringStringEntryProto']],
    dataLocation: [14, 'int'],
  },
  SparseTensorProto: { values: [1, 'TensorProto'], indices: [2, 'TensorProto'], dims: [3, 'ints'] },
  /** The data of a sequence, and of an optional value, in files of test cases. */
  SequenceProto: {
    tensorValues: [3, ['TensorProto']],
    sequenceValues: [5, ['SequenceProto']],
    optionalValues: [7, ['OptionalProto']],
  },
  OptionalProto: { tensorValue: [3, 'TensorProto'], sequenceValue: [5, 'SequenceProto'] },
  StringStringEntryProto: { key: [1, 'string'], value: [2, 'string'] },
  ValueInfoProto: { name: [1, 'string'], type: [2, 'TypeProto'] },
  TypeProto: {
    tensorType: [1, 'TensorTypeProto'],
    sequenceType: [4, 'ElementTypeProto'],
    mapType: [5, 'OpaqueTypeProto'],
    sparseTensorType: [8, 'OpaqueTypeProto'],
    optionalType: [9, 'ElementTypeProto'],
  },
  /** The type of elements of a sequence, or of the element of an optional value. */
  ElementTypeProto: { elemType: [1, 'TypeProto'] },
  TensorTypeProto: { elemType: [1, 'int'], shape: [2, 'TensorShapeProto'] },
  /** A type of which only its presence matters. */
  OpaqueTypeProto: {},
  TensorShapeProto: { dim: [1, ['DimensionProto']] },
  DimensionProto: { dimValue: [1, 'int'], dimParam: [2, 'string'] },
} as const satisfies Record<string, Readonly<Record<string, FieldEntry>>>;

/** The field number, and the type's name; in a list when the field repeats a string or message. */
export type FieldEntry = readonly [number: number, type: string | readonly [string]];

interface Scalars {
  int: number;
  bigint: bigint;
  float: number;
  string: string;
  bytes: Uint8Array;
}

interface Repeated {
  ints: readonly number[];
  floats: Float32Array;
  doubles: Float64Array;
  bigints: BigInt64Array;
  biguints: BigUint64Array;
}

export type RepeatedType = keyof Repeated;
export type MessageName = keyof typeof ONNX_SCHEMA;

type SingularValue<T> = T extends keyof Scalars
  ? Scalars[T]
  : T extends MessageName
    ? Message<T>
    : never;

type FieldValue<T> = T extends readonly [infer Element]
  ? readonly SingularValue<Element>[]
  : T extends keyof Repeated
    ? Repeated[T]
    : SingularValue<T> | undefined;

/** A decoded message: singular fields may be undefined, repeated ones are empty when absent. */
export type Message<N extends MessageName> = {
  readonly [F in keyof (typeof ONNX_SCHEMA)[N]]: (typeof ONNX_SCHEMA)[N][F] extends readonly [
    number,
    infer T,
  ]
    ? FieldValue<T>
    : never;
};

type DraftSingular<T> = T extends 'int' | 'bigint'
  ? number | bigint
  : T extends keyof Scalars
    ? Scalars[T]
    : T extends MessageName
      ? Draft<T>
      : never;

type DraftValue<T> = T extends readonly [infer Element]
  ? readonly DraftSingular<Element>[]
  : T extends keyof Repeated
    ? Iterable<number | bigint>
    : DraftSingular<T>;

/** A message to be written: any of its fields, and numbers of either kind. */
export type Draft<N extends MessageName> = {
  readonly [F in keyof (typeof ONNX_SCHEMA)[N]]?:
    | ((typeof ONNX_SCHEMA)[N][F] extends readonly [number, infer T] ? DraftValue<T> : never)
    | undefined;
};

export type ModelProto = Message<'ModelProto'>;
export type GraphProto = Message<'GraphProto'>;
export type FunctionProto = Message<'FunctionProto'>;
export type SparseTensorProto = Message<'SparseTensorProto'>;
export type NodeProto = Message<'NodeProto'>;
export type AttributeProto = Message<'AttributeProto'>;
export type TensorProto = Message<'TensorProto'>;
export type ValueInfoProto = Message<'ValueInfoProto'>;
export type TypeProto = Message<'TypeProto'>;
