/** The number of `--threads`. */
export function parseThreads(text: string, device: string): number {
  const threads = Number(text);
  if (!Number.isInteger(threads) || threads < 1 || threads > 64) {
    throw new Error(`--threads: got ${text}, expected an integer from 1 to 64.`);
  }
  if (threads > 1 && device !== 'wasm') throw new Error('--threads is for --device wasm.');
  return threads;
}
