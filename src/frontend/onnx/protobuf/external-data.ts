import { FormatError, UnsupportedError } from '../../../core/errors.ts';
import type { StoredBytesReader } from '../../../core/tensor/host-tensor.ts';
import type { GraphProto, Message, ModelProto, TensorProto } from './schema.ts';

export interface ByteRange {
  /** The offset of the part in the file. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** Reads a part of a file that lies beside the model. `path` is relative, without `..`. */
export type ExternalDataReader = (path: string, range: ByteRange) => Uint8Array;

/** The file beside the model that has a tensor's data, and the place in it. */
export interface ExternalRange extends ByteRange {
  readonly path: string;
}

const EXTERNAL = 1;

export function isExternal(proto: TensorProto): boolean {
  return proto.dataLocation === EXTERNAL || proto.externalData.length > 0;
}

/**
 * The bytes of a tensor in an external file. Throws FormatError for a place that is none or that the
 * file does not have, UnsupportedError where nobody said how to read such files.
 */
export function externalBytes(
  proto: TensorProto,
  byteLength: number,
  { where, read }: { where: string; read: ExternalDataReader | undefined },
): Uint8Array {
  const range = externalRange(proto, where, byteLength);
  if (read === undefined) {
    throw new UnsupportedError({
      where,
      got: `tensor data in an external file (${range.path})`,
      expected: 'data inside the model file, or a way to read that file',
      remedy:
        'Give importOnnx or compileOnnx the option externalData, or load the model by its URL.',
    });
  }
  return readExactly(range, where, read);
}

/** Tensors from this many bytes on are read when their elements are needed, and not kept. */
const LAZY_FROM = 2 ** 20;

/**
 * Reads parts of a large tensor in an external file when they are asked for; undefined for a small
 * one. Throws as {@link externalBytes}: the file has to be there, and long enough.
 */
export function externalReader(
  proto: TensorProto,
  byteLength: number,
  { where, read }: { where: string; read: ExternalDataReader | undefined },
): StoredBytesReader | undefined {
  if (read === undefined || byteLength < LAZY_FROM) return undefined;
  const { path, byteOffset } = externalRange(proto, where, byteLength);
  const part: StoredBytesReader = (start, length) =>
    readExactly({ path, byteOffset: byteOffset + start, byteLength: length }, where, read);
  const last = read(path, { byteOffset: byteOffset + byteLength - 1, byteLength: 1 });
  // Reading all of it says what is missing.
  if (last.byteLength !== 1) part(0, byteLength);
  return part;
}

function readExactly(range: ExternalRange, where: string, read: ExternalDataReader): Uint8Array {
  const { byteLength } = range;
  // Nothing to read: the file need not even exist.
  if (byteLength === 0) return new Uint8Array();
  const bytes = read(range.path, range);
  if (bytes.byteLength === byteLength) return bytes;
  throw new FormatError({
    where,
    got: `${bytes.byteLength} bytes at ${range.byteOffset} of ${range.path}`,
    expected: `${byteLength} bytes`,
    remedy: 'The file may be truncated, or belong to another model.',
  });
}

function externalRange(proto: TensorProto, where: string, expected?: number): ExternalRange {
  const entries = new Map(proto.externalData.map(({ key = '', value = '' }) => [key, value]));
  const path = checkedPath(entries.get('location') ?? '', where);
  const byteOffset = bytesFrom(entries.get('offset'), where) ?? 0;
  const stated = bytesFrom(entries.get('length'), where);
  const byteLength = expected ?? stated ?? 0;
  if (stated === undefined || stated === byteLength) return { path, byteOffset, byteLength };
  throw new FormatError({
    where,
    got: `${stated} bytes of ${path}`,
    expected: `${byteLength} bytes for its dtype and dimensions`,
  });
}

/** Files beside the model or in folders below it, and nothing else. */
function checkedPath(location: string, where: string): string {
  const parts = location
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '.');
  const isOutside = location.includes('\0') || parts.some((part) => part === '' || part === '..');
  if (!isOutside) return parts.join('/');
  throw new FormatError({
    where,
    got: `tensor data in "${location}"`,
    expected: 'a file in the folder of the model, without ".."',
  });
}

function bytesFrom(text: string | undefined, where: string): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new FormatError({ where, got: `"${text}"`, expected: 'a number of bytes' });
}

/** The tensors of a model whose data lies in other files. */
export function externalTensors(model: ModelProto): readonly TensorProto[] {
  const found: TensorProto[] = [];
  const add = (tensor: TensorProto | undefined): void => {
    if (tensor !== undefined && isExternal(tensor)) found.push(tensor);
  };
  const addNodes = (nodes: readonly Message<'NodeProto'>[]): void => {
    for (const { attribute } of nodes) {
      for (const { t, g } of attribute) {
        add(t);
        if (g !== undefined) addGraph(g);
      }
    }
  };
  const addGraph = (graph: GraphProto): void => {
    for (const tensor of graph.initializer) add(tensor);
    for (const { values, indices } of graph.sparseInitializer) {
      add(values);
      add(indices);
    }
    addNodes(graph.node);
  };
  if (model.graph !== undefined) addGraph(model.graph);
  for (const { node } of model.functions) addNodes(node);
  return found;
}

/** Where a tensor's data lies, of as many bytes as its dtype and dimensions take. */
export function rangeOf(proto: TensorProto, byteLength: number): ExternalRange {
  return externalRange(proto, `tensor "${proto.name ?? ''}"`, byteLength);
}
