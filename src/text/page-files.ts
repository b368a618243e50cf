import { platformSha256 } from '../core/bytes/platform-sha256.ts';
import { GivenFile } from '../downloads/given-file.ts';
import { openFile } from '../downloads/open-file.ts';
import type { RangeFile } from '../downloads/range-file.ts';
import type { FileHead, FilesSource } from '../worker/protocol/wire-source.ts';
import type { ReadFile } from './model-folder.ts';
import { answered } from './reader/answers.ts';
import type { ReadPage } from './reader/text-reader.ts';

/** The files that a reader asks this page for. */
export interface PageFiles {
  /** The name of the model's file in its folder. */
  readonly own: string;
  readonly read: ReadPage;
  close(): void;
}

/** `heads` gets what was read of files of which only ranges are. */
export function pageFiles(
  { url, bytes, cache, integrity }: FilesSource,
  read: ReadFile,
  {
    signal,
    heads,
  }: {
    readonly signal: AbortSignal | undefined;
    readonly heads: Record<string, FileHead> | undefined;
  },
): PageFiles {
  const path = bytes === undefined ? new URL(url).pathname : url;
  const own = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  const open = async (name: string): Promise<RangeFile | undefined> => {
    const given = bytes?.[name];
    if (bytes !== undefined) return given && new GivenFile(name, given);
    const address = name === own ? url : new URL(`./${encodeURIComponent(name)}`, url).href;
    return openFile(address, { cache, integrity: integrity[name], signal });
  };
  const files = new Map<string, RangeFile | undefined>();
  const readRange = async (name: string, begin: number, end: number) => {
    if (!files.has(name)) files.set(name, await open(name));
    const head = await files.get(name)?.read(begin, end);
    if (heads && head) {
      heads[name] = { byteLength: head.byteLength, sha256: await platformSha256(head) };
    }
    return head;
  };
  return {
    own,
    read: (name, range) => answered(() => (range ? readRange(name, ...range) : read(name, signal))),
    close() {
      for (const file of files.values()) file?.close();
    },
  };
}
