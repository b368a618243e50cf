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
      const failures: unknown[] = [];
      const content = await readJson(read, name, signal, failures);
      if (content !== undefined) return content;
      const [cause] = failures;
      const got = cause instanceof Error ? cause.message : 'no such file';
      throw new DownloadError({ where: name, got, expected: 'it beside the model' }, { cause });
    }),
  );
  const { openTokenizer } = await import('../text/text-tokenizer.ts');
  return await openTokenizer({ tokenizer: tokenizer ?? {}, config: config ?? {} });
}
