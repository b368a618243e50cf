import type { ExecutableData } from '../../bytecode/executable.ts';
import type { DataBlock, DataHashes } from '../../bytecode/file/executable-reader.ts';
import type { AskType } from '../compile/compile-protocol.ts';
import type { LoadProgress } from '../protocol/load-request.ts';
import type { OwnTables } from '../protocol/session-service.ts';

/** {@link OwnTables} to compile models with. */
export interface CompileTables extends OwnTables {
  /** True if threads that this one starts to compile have these tables too. */
  readonly isInThreads: boolean;
}

/** Undefined where there is nothing of one's own. */
export function compileTables(
  { operators, importers, functions }: OwnTables,
  isInThreads: boolean,
): CompileTables | undefined {
  const isOwn = operators ?? importers ?? functions;
  return isOwn ? { operators, importers, functions, isInThreads } : undefined;
}

/** A verified program whose data is here, or still on its way. */
export interface LoadedProgram {
  readonly executable: ExecutableData;
  /** The data section, in order. */
  readonly blocks: AsyncIterable<DataBlock>;
  /** Hashes of a model that was compiled, complete after the last block. */
  readonly dataHashes?: DataHashes | undefined;
  /** Tables that a model was compiled with, to do it again. */
  readonly tables?: CompileTables | undefined;
}

export interface LoadContext {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
  /** Asks the page for the types of nodes that its functions compute. */
  readonly askType?: AskType | undefined;
  /** Default: the operators and importers that Weft has. */
  readonly tables?: CompileTables | undefined;
}
