import { UsageError, internalError } from '../core/errors.ts';
import type { Inputs } from '../client/values/input-value.ts';
import type { Session } from '../client/session.ts';
import type { WatchedModel } from './passes/passes-panel.ts';

/** The program for an inspector to show: a session or an executable, with more about it. */
export interface InspectorTarget {
  /** A session, also one of a lent device: what it runs is shown, and it can be run. */
  readonly session?: Session | undefined;
  /** The bytes of a `.weft` file, to look at without running it. */
  readonly executable?: Uint8Array | ArrayBuffer | undefined;
  /** Inputs to run a session on. Default: random numbers, whose sizes are chosen in fields. */
  readonly inputs?: Inputs | undefined;
  /** A heading. Default: that of the element. */
  readonly title?: string | undefined;
  /** The function that is shown first. Default `main`. */
  readonly function?: string | undefined;
  /** The source of the program, for the view of it after each pass of the compiler. */
  readonly compiledFrom?: WatchedModel | undefined;
}

/** The program of a target, as the head of a `.weft` file. Rejects with UsageError, FormatError, or as the session does. */
export async function readTarget({ session, executable }: InspectorTarget): Promise<Uint8Array> {
  if (session !== undefined) {
    const { results } = await session.control({ kind: 'program', args: [] });
    const value = results[0]?.value;
    if (value?.kind === 'tensor' && value.data instanceof Uint8Array) return value.data;
    throw internalError('a session without a program');
  }
  const bytes = executable instanceof ArrayBuffer ? new Uint8Array(executable) : executable;
  if (bytes instanceof Uint8Array) {
    const { readHeader } = await import('../bytecode/file/file-head.ts');
    return bytes.slice(0, readHeader(bytes).headByteLength);
  }
  throw new UsageError({
    where: 'weft-inspector, show',
    got: 'neither a session nor an executable',
    expected: '`session` or `executable`',
  });
}
