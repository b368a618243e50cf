import type { AskType } from './compile-protocol.ts';
import type { OwnTables } from '../protocol/session-service.ts';

/** What a compilation reports to, and what it reads. */
export interface CompileContext {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** Called for bytes of files that compiling reads. */
  readonly onDownload?: ((loaded: number, total: number) => void) | undefined;
  readonly onPlace?: (place: string) => void;
  readonly tables?: OwnTables | undefined;
  readonly askType?: AskType | undefined;
}
