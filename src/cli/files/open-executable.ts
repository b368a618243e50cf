import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { tensorOf } from '../../bytecode/constant-tensor.ts';
import type { TensorConstant } from '../../bytecode/executable.ts';
import { Executable } from '../../bytecode/index.ts';
import { ExecutableReader } from '../../bytecode/file/executable-reader.ts';
import { looksLikeExecutable, MAGIC } from '../../bytecode/file/file-format.ts';
import { type TensorPiece, TensorPieces } from '../../bytecode/text/tensor-pieces.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { readBytes, readStart, siblingReader } from './read-file.ts';

/**
 * Resolves to true if a file begins as a `.weft` file does. Throws UsageError when it cannot be
 * read.
 */
export async function isExecutableFile(path: string): Promise<boolean> {
  return looksLikeExecutable(await readStart(path, MAGIC.byteLength));
}

/** An executable as a session loads it: piece by piece, for it may be larger than an array. */
export async function openExecutable(path: string): Promise<Response> {
  const { size } = await stat(path);
  return new Response(fileStream(path), { headers: { 'content-length': String(size) } });
}

const READ_AHEAD = 2 ** 22;

function fileStream(path: string): ReadableStream<Uint8Array> {
  return Readable.toWeb(createReadStream(path, { highWaterMark: READ_AHEAD })) as ReadableStream;
}

/** Larger files are not read into one array. */
const MAX_WHOLE = 2 ** 30;

/**
 * The executable of a `.weft` file, which is checked whole. The weights of a large one stay in the
 * file. Throws UsageError, FormatError or VerifyError.
 */
export async function readExecutableFile(
  path: string,
  maxWhole: number = MAX_WHOLE,
): Promise<Executable> {
  const { size } = await stat(path);
  if (size <= maxWhole) return Executable.fromBytes(await readBytes(path));
  const reader = await ExecutableReader.open(fileStream(path), { byteLength: size });
  for await (const _ of reader.blocks());
  const { executable } = reader;
  const { dataByteLength } = executable;
  const pieces = executable.constants.flatMap((constant) =>
    constant.kind === 'tensor' ? [pieceOf(constant, path, size - dataByteLength)] : [],
  );
  return new Executable(executable, new TensorPieces(pieces, dataByteLength));
}

/** `dataOffset` is where the data section begins in the file. */
function pieceOf(constant: TensorConstant, path: string, dataOffset: number): TensorPiece {
  const { dtype, shape, isSplat, byteOffset, byteLength } = constant;
  const read = siblingReader(path);
  const stored = (from: number, length: number): Uint8Array =>
    read(basename(path), { byteOffset: dataOffset + byteOffset + from, byteLength: length });
  const tensor = isSplat
    ? tensorOf({ ...constant, byteOffset: 0 }, stored(0, byteLength))
    : new HostTensor(dtype, shape, stored);
  return { byteOffset, tensor };
}
