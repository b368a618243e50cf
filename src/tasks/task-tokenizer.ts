import { DownloadError } from '../core/errors.ts';
import type { ReadFile } from '../text/model-folder.ts';
import type { TextTokenizer } from '../text/text-tokenizer.ts';
import { readJson } from './task-model.ts';

/** The tokenizer of a model's folder. Rejects with DownloadError where it is not there. */
export async function readTokenizer(
  read: ReadFile,
  signal: AbortSignal | undefined,
): Promise<TextTokenizer> {
  const [tokenizer, config] = await Promise.all(
    ['tokenizer.json', 'tokenizer_config.json'].map(async (name) => {
      const content = await readJson(read, name, signal);
      if (content !== undefined) return content;
      throw new DownloadError({
        where: name,
        got: 'no such file',
        expected: 'it beside the model',
      });
    }),
  );
  const { openTokenizer } = await import('../text/text-tokenizer.ts');
  return await openTokenizer({ tokenizer: tokenizer ?? {}, config: config ?? {} });
}
