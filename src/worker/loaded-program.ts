import type { ExecutableData } from '../bytecode/executable.ts';
import type { DataBlock, DataHashes } from '../bytecode/executable-reader.ts';
import type { LoadProgress } from './protocol.ts';

/** A verified program whose data is here, or still on its way. */
export interface LoadedProgram {
  readonly executable: ExecutableData;
  /** The data section, in order. */
  readonly blocks: AsyncIterable<DataBlock>;
  /** Of a model that was compiled, complete after the last block. */
  readonly dataHashes?: DataHashes | undefined;
}

export interface LoadContext {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
}
