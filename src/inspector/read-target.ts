import { UsageError, internalError } from '../core/errors.ts';
import type { Inputs } from '../client/input-value.ts';
import type { Session } from '../client/session.ts';
import type { WatchedModel } from './passes/passes-panel.ts';

/** What an inspector shows. */
export interface InspectorTarget {
  /** A session, also one of a lent device: what it runs is shown, and it can be run. */
  readonly session?: Session | undefined;
  /** The bytes of a `.weft` file, to look at without running it. */
  readonly executable?: Uint8Array | ArrayBuffer | undefined;
  /** What a session runs on. Default: random numbers, from which the inspector's fields give sizes. */
  readonly inputs?: Inputs | undefined;
  /** A heading. Default: that of the element. */
  readonly title?: string | undefined;
  /** The function that is shown first. Default `main`. */
  readonly function?: string | undefined;
  /** What the program was compiled from, to see what each pass of the compiler makes of it. */
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
    const { readHeader } = await import('../bytecode/file-head.ts');
    return bytes.slice(0, readHeader(bytes).headByteLength);
  }
  throw new UsageError({
    where: 'weft-inspector, show',
    got: 'neither a session nor the bytes of an executable',
    expected: 'one of both, as `session` or `executable`',
  });
}
