import { StorageError, WeftError } from '../core/errors.ts';

/** Causes by the names of DOM exceptions and the codes of Node. */
const FAULTS: Readonly<Record<string, string>> = {
  QuotaExceededError: 'no space left',
  ENOSPC: 'no space left',
  EDQUOT: 'no space left',
  NotAllowedError: 'no permission',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'no permission',
  NoModificationAllowedError: 'a file that is in use',
};

/** The result of work on files; rejects with StorageError where the file system fails. */
export async function withStorageErrors<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    const { name, code } = Object(cause) as { readonly name?: unknown; readonly code?: unknown };
    const key = typeof code === 'string' ? code : String(name);
    throw new StorageError(
      {
        where,
        got: Object.hasOwn(FAULTS, key) ? (FAULTS[key] ?? key) : String(cause),
        expected: 'a file that can be read and written',
        remedy: 'Free space, or keep the snapshot elsewhere; the previous one is still there.',
      },
      { cause },
    );
  }
}
