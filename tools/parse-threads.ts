/** `--threads` and `--apart`. */
export interface ThreadOptions {
  readonly count: number;
  /** True if threads have memories of their own, as in a page that is not isolated. */
  readonly isApart: boolean;
}

/** Throws an Error that says what is wrong. */
export function parseThreads(
  { threads, apart = false }: { readonly threads: string; readonly apart?: boolean },
  device: string,
): ThreadOptions {
  const count = Number(threads);
  if (!Number.isInteger(count) || count < 1 || count > 64) {
    throw new Error(`--threads: got ${threads}, expected an integer from 1 to 64.`);
  }
  if (count > 1 && device !== 'wasm') throw new Error('--threads is for --device wasm.');
  if (apart && count === 1) throw new Error('--apart is for --threads N, of more than one.');
  return { count, isApart: apart };
}
