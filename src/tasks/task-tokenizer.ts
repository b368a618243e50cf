import { DownloadError } from '../core/errors.ts';
import { optionalReader, type ReadFile } from '../frontend/decoders/reader/model-folder.ts';
import { type ReaderPlace, openReader } from '../text/load/open-reader.ts';
import { type RemoteTokenizer, remoteTokenizer } from '../text/load/remote-tokenizer.ts';
import type { TokenizerFacts } from '../frontend/decoders/reader/text-reader.ts';

/** A tokenizer in a thread of its own, until it is closed. */
export interface TaskTokenizer extends RemoteTokenizer {
  readonly facts: TokenizerFacts;
  close(): void;
}

/** Where a tokenizer works, and what ends its load. */
export interface TokenizerOptions extends ReaderPlace {
  readonly signal?: AbortSignal | undefined;
}

/** The tokenizer of a model's folder. Rejects with DownloadError where it is not there, and FormatError for one that is none. */
export async function readTokenizer(
  read: ReadFile,
  { signal, ...place }: TokenizerOptions,
): Promise<TaskTokenizer> {
  const [tokenizer, config] = await Promise.all(
    (['tokenizer.json', 'tokenizer_config.json'] as const).map(async (name) => {
      const failures: unknown[] = [];
      const content = await optionalReader(read, failures)(name, signal);
      if (content !== undefined) return content;
      const [cause] = failures;
      const got = cause instanceof Error ? cause.message : 'no such file';
      throw new DownloadError({ where: name, got, expected: 'it beside the model' }, { cause });
    }),
  );
  const none = new Uint8Array();
  return openTaskTokenizer(tokenizer ?? none, config ?? none, { signal, ...place });
}

/** A tokenizer of the bytes of `tokenizer.json` and `tokenizer_config.json`. Rejects with FormatError. */
export async function openTaskTokenizer(
  tokenizer: Uint8Array,
  config: Uint8Array,
  { signal, ...place }: TokenizerOptions,
): Promise<TaskTokenizer> {
  const reader = await openReader(place);
  try {
    const facts = await reader.ask('openTokenizer', [tokenizer, config], signal);
    return { ...remoteTokenizer(reader), facts, close: () => reader.close() };
  } catch (error) {
    reader.close();
    throw error;
  }
}
