/** A step of a peer that takes longer has failed. */
const STEP_LIMIT_MS = 120_000;

/** Rejects when a step takes too long. */
export async function limited<T>(work: Promise<T>, limitMs = STEP_LIMIT_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The first line of an error, for a table. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.replace('page.evaluate: ', '').split('\n')[0] ?? '').slice(0, 160);
}
