import { checkOptions } from '../check-options.ts';

/** Files that language models have beside their weights. */
export const SMALL_FILES: readonly string[] = [
  'config.json',
  'tokenizer.json',
  'generation_config.json',
  'tokenizer_config.json',
  'chat_template.jinja',
];

/** Throws UsageError for a hash of a file that is none of these: it would check nothing. */
export function requireOwnHashes(
  integrity: Readonly<Record<string, string>>,
  files: readonly string[],
): void {
  const kinds = Object.fromEntries(files.map((name) => [name, 'text' as const]));
  checkOptions('integrity, by files', integrity, kinds);
}
