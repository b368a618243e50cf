/** Keeps the latest snapshot of a session. */
export interface SnapshotStore {
  /** Replaces the snapshot. When it fails or is cut short anywhere, the one before is still there. */
  save(bytes: Uint8Array): Promise<void>;
  /**
   * The snapshot that was saved last as a whole; undefined when there is none. Rejects with
   * FormatError when what was saved was damaged afterwards.
   */
  latest(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Forgets the snapshot. */
  clear(): Promise<void>;
}

/** A few files with names, on which `openSnapshotStore` keeps snapshots. */
export interface SnapshotFiles {
  /** All of a file; undefined when it does not exist. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Replaces a file or makes it, and resolves when it would survive the end of the process. A write
   * that is cut short may leave anything in this file, but must leave the others alone.
   */
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Without effect when there is no such file. */
  remove(name: string): Promise<void>;
  /** Does work while nobody else changes the files, where others could. */
  exclude?<T>(work: () => Promise<T>): Promise<T>;
}
