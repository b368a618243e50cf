import { addressOf } from '../../client/start/file-url.ts';
import { DownloadError } from '../../core/errors.ts';
import { openFile } from '../../downloads/open-file.ts';
import { readWhole } from '../../downloads/range-file.ts';

/** The characters that a model reads, in the order of its classes: the address of a file that has one in each line, its bytes, or a list. */
export type DictionarySource = string | URL | Uint8Array | readonly string[];

/** Reads the characters. Rejects with DownloadError where there is no such file. */
export async function dictionaryOf(
  source: DictionarySource,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (source instanceof Uint8Array) return linesOf(source);
  if (typeof source !== 'string' && !(source instanceof URL)) return source;
  const url = addressOf(source).href;
  const file = await openFile(url, { signal });
  if (file === undefined) {
    throw new DownloadError({ where: url, got: 'no such file', expected: 'the dictionary' });
  }
  return linesOf(await readWhole(file));
}

/** Only the ends of lines are cut off: a line may hold a space of Unicode. */
function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
