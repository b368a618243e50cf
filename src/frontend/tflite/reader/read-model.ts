import { FormatError } from '../../../core/errors.ts';
import { type FlatTable, rootTable } from './flat-table.ts';
import { CUSTOM, ELSEWHERE, OPERATORS } from './schema.ts';

/** How codes stand for numbers: `scale * (code - zero)`, by the element of an axis where there are several. */
export interface Quantization {
  readonly scale: readonly number[];
  readonly zero: readonly number[];
  readonly axis: number;
}

/** A dimension of a sparse tensor: dense with a size, or the places of what is stored. */
export interface SparseDimension {
  readonly size: number;
  /** Where the entries of each element of the dimension before begin; undefined for a dense one. */
  readonly segments: readonly number[] | undefined;
  readonly indices: readonly number[] | undefined;
}

/** How a tensor is stored without its zeros. */
export interface Sparsity {
  readonly order: readonly number[];
  readonly blockMap: readonly number[];
  readonly dimensions: readonly SparseDimension[];
}

/** A tensor of a graph. */
export interface LiteTensor {
  readonly name: string;
  /** The code of its element type. */
  readonly type: number;
  readonly shape: readonly number[];
  /** The shape with -1 for sizes that a caller may choose; undefined where there are none. */
  readonly signature: readonly number[] | undefined;
  /** Its elements, where they are constant. */
  readonly data: Uint8Array | undefined;
  readonly quantization: Quantization | undefined;
  readonly isVariable: boolean;
  readonly sparsity: Sparsity | undefined;
}

/** An operator of a graph. */
export interface LiteOperator {
  /** `CONV_2D`, or the name of a custom operator. */
  readonly name: string;
  readonly isCustom: boolean;
  readonly version: number;
  /** Numbers of tensors; -1 for none. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** The kind of its options in the union of all. */
  readonly optionsType: number;
  readonly options: FlatTable | undefined;
  readonly customOptions: Uint8Array;
}

/** A graph of operators in the order of execution. */
export interface LiteGraph {
  readonly name: string;
  readonly tensors: readonly LiteTensor[];
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  readonly operators: readonly LiteOperator[];
}

/** Names of a graph's tensors for callers. */
export interface Signature {
  readonly key: string;
  readonly graph: number;
  /** Names by the numbers of tensors. */
  readonly inputs: ReadonlyMap<number, string>;
  readonly outputs: ReadonlyMap<number, string>;
}

/** A TensorFlow Lite model. */
export interface LiteModel {
  readonly description: string;
  readonly graphs: readonly [LiteGraph, ...LiteGraph[]];
  readonly signatures: readonly Signature[];
  /** Bytes of metadata by name. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
}

const VERSION = 3;
const WHERE = 'TensorFlow Lite model';

/** Reads a model, and checks each offset and each number of a tensor. Throws FormatError. */
export function readModel(bytes: Uint8Array): LiteModel {
  const root = rootTable(bytes, WHERE);
  const version = root.u32(0);
  if (version !== VERSION) throw broken(WHERE, `schema version ${version}`, `${VERSION}`);
  const buffers = root.tables(4, (i) => `buffer ${i}`).map((table) => bufferOf(table, bytes));
  const codes = root.tables(1, (i) => `operator code ${i}`).map(codeOf);
  const [main, ...others] = root
    .tables(2, (i) => `graph ${i}`)
    .map((table) => {
      const tensors = table
        .tables(0, (i) => `tensor ${i} of ${table.where}`)
        .map((tensor) => tensorOf(tensor, buffers));
      const operators = table
        .tables(3, (i) => `operator ${i} of ${table.where}`)
        .map((operator) => operatorOf(operator, codes, tensors.length));
      const numbers = (id: number): readonly number[] => {
        const list = table.i32s(id) ?? [];
        for (const number of list) requireIndex(number, tensors.length, table.where);
        return list;
      };
      const name = table.string(4) ?? '';
      return { name, tensors, operators, inputs: numbers(1), outputs: numbers(2) };
    });
  if (main === undefined) throw broken(WHERE, 'no graph', 'one or more');
  const graphs = [main, ...others] as const;
  const metadata = root
    .tables(6, (i) => `metadata ${i}`)
    .map((table) => {
      const buffer = table.u32(1);
      requireIndex(buffer, buffers.length, table.where);
      return [table.string(0) ?? '', buffers[buffer] ?? new Uint8Array()] as const;
    });
  return {
    description: root.string(3) ?? '',
    graphs: [...graphs],
    signatures: root.tables(7, (i) => `signature ${i}`).map((table) => signatureOf(table, graphs)),
    metadata: new Map(metadata),
  };
}

/** The bytes of a buffer, which lie behind the root of files beyond 2 GB. */
function bufferOf(table: FlatTable, bytes: Uint8Array): Uint8Array | undefined {
  const [offset, size] = [table.u64(1), table.u64(2)];
  if (offset <= 1) return table.bytes(0);
  if (offset + size > bytes.byteLength) {
    throw broken(table.where, `bytes ${offset} to ${offset + size}`, 'places in the file');
  }
  return bytes.subarray(offset, offset + size);
}

type Code = Pick<LiteOperator, 'name' | 'isCustom' | 'version'>;

function codeOf(table: FlatTable): Code {
  const old = table.u8(0);
  const code = old < ELSEWHERE ? Math.max(old, table.i32(3)) : table.i32(3);
  const isCustom = code === CUSTOM;
  const name = isCustom ? (table.string(1) ?? '') : (OPERATORS[code] ?? `builtin operator ${code}`);
  return { name, isCustom, version: table.i32(2, 1) };
}

function tensorOf(table: FlatTable, buffers: readonly (Uint8Array | undefined)[]): LiteTensor {
  const buffer = table.u32(2);
  // Models without constants may have no buffers at all.
  if (buffer > 0) requireIndex(buffer, buffers.length, table.where);
  const data = buffers[buffer];
  const shape = table.i32s(0) ?? [];
  if (shape.some((size) => size < 0)) {
    throw broken(table.where, `shape (${shape.join(', ')})`, 'no size below 0');
  }
  const signature = table.i32s(7);
  if (signature !== undefined && signature.length > 0 && signature.length !== shape.length) {
    throw broken(table.where, `a shape signature of ${signature.length} sizes`, `${shape.length}`);
  }
  const sparsity = table.table(6);
  return {
    name: table.string(3) ?? '',
    type: table.i8(1),
    shape,
    signature: signature?.includes(-1) === true ? signature : undefined,
    data: data !== undefined && data.byteLength > 0 ? data : undefined,
    quantization: quantizationOf(table.table(4), table.where),
    isVariable: table.u8(5) !== 0,
    sparsity: sparsity && sparsityOf(sparsity),
  };
}

function quantizationOf(table: FlatTable | undefined, where: string): Quantization | undefined {
  const scale = table?.f32s(2) ?? [];
  if (table === undefined || scale.length === 0) return undefined;
  const given = table.i64s(3) ?? [];
  const zero = given.length === 0 ? scale.map(() => 0) : given;
  if (zero.length !== scale.length) {
    throw broken(where, `${zero.length} zero points`, `as many as scales, ${scale.length}`);
  }
  return { scale, zero, axis: table.i32(6) };
}

function sparsityOf(table: FlatTable): Sparsity {
  const dimensions = table
    .tables(2, () => table.where)
    .map((one) => ({
      size: one.i32(1),
      segments: one.i8(0) === 0 ? undefined : sparseIndices(one, 2),
      indices: one.i8(0) === 0 ? undefined : sparseIndices(one, 4),
    }));
  return { order: table.i32s(0) ?? [], blockMap: table.i32s(1) ?? [], dimensions };
}

/** A union of lists of 32, 16 and 8 bits. */
function sparseIndices(table: FlatTable, type: number): readonly number[] {
  const list = table.table(type + 1);
  const kind = table.u8(type);
  const values = kind === 1 ? list?.i32s(0) : kind === 2 ? list?.u16s(0) : list?.bytes(0);
  return Array.from(values ?? []);
}

function operatorOf(table: FlatTable, codes: readonly Code[], tensorCount: number): LiteOperator {
  const opcode = table.u32(0);
  requireIndex(opcode, codes.length, table.where);
  const { name = '', isCustom = false, version = 1 } = codes[opcode] ?? {};
  const numbers = (id: number, least: number): readonly number[] => {
    const list = table.i32s(id) ?? [];
    for (const number of list) requireIndex(number, tensorCount, table.where, least);
    return list;
  };
  return {
    name,
    isCustom,
    version,
    inputs: numbers(1, -1),
    outputs: numbers(2, -1),
    optionsType: table.u8(3),
    options: table.table(4),
    customOptions: table.bytes(5) ?? new Uint8Array(),
  };
}

function signatureOf(table: FlatTable, graphs: readonly LiteGraph[]): Signature {
  const graph = table.u32(4);
  requireIndex(graph, graphs.length, table.where);
  const names = (id: number): ReadonlyMap<number, string> => {
    const pairs = table.tables(id, () => table.where);
    return new Map(pairs.map((pair) => [pair.u32(1), pair.string(0) ?? '']));
  };
  return { key: table.string(2) ?? '', graph, inputs: names(0), outputs: names(1) };
}

function requireIndex(index: number, count: number, where: string, least = 0): void {
  if (index >= least && index < count) return;
  throw broken(where, `number ${index}`, `one from ${least} to ${count - 1}`);
}

function broken(where: string, got: string, expected: string): FormatError {
  return new FormatError({ where, got, expected });
}
