import type { AskType } from './compile-protocol.ts';
import type { OwnTables } from '../protocol/session-service.ts';

/** Who hears of a compilation, and what it is given. */
export interface CompileContext {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** Hears of bytes of files that compiling reads. */
  readonly onDownload?: ((loaded: number, total: number) => void) | undefined;
  readonly onPlace?: (place: string) => void;
  readonly tables?: OwnTables | undefined;
  readonly askType?: AskType | undefined;
}
