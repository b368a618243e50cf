import { having, requireKind } from '../../core/check-options.ts';
import { requireImport } from '../../core/require-import.ts';
import type { SnapshotFiles, SnapshotStore } from '../../snapshots/store-types.ts';

/** All that sessions need of snapshots, in a file that loads when it is first asked for. */
export async function loadSnapshots() {
  await requireImport();
  return import('./snapshots.ts');
}

/** A store on files of the caller's, such as rows of IndexedDB. */
export async function openSnapshotStore(files: SnapshotFiles): Promise<SnapshotStore> {
  const kind = having('an object with read and write', 'read', 'write');
  requireKind('openSnapshotStore', kind, ['files that are', files]);
  return new (await loadSnapshots()).SnapshotSlots(files);
}

/**
 * A store in the private file system of the page's origin (OPFS), by name. Tabs that open the same
 * name take turns. Rejects with UnsupportedError where there is no such file system, and with
 * UsageError for a name that is none of a folder.
 */
export async function opfsStore(name: string): Promise<SnapshotStore> {
  return (await loadSnapshots()).openOpfs(name);
}
