/** `812 B`, `40 KB`, `1.3 MB`; K is 1024. */
export function formatBytes(byteLength: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let value = byteLength;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `0.042 ms`, `3.1 ms`, `120 ms`. A dash when nothing was measured. */
export function formatMs(durationMs: number | undefined): string {
  if (durationMs === undefined) return '–';
  const digits = durationMs >= 100 ? 0 : durationMs >= 1 ? 1 : 3;
  return `${durationMs.toFixed(digits)} ms`;
}

/** A count with its noun: `1 kernel`, `4 kernels`. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** The text to show of anything thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
