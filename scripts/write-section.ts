import { readFileSync, writeFileSync } from 'node:fs';

/** Replaces what stands between a command's markers in a document. Throws without markers. */
export function writeSection(file: string, command: string, text: string): void {
  const [begin, end] = ['begin', 'end'].map((word) => `<!-- ${command}: ${word} -->`) as [
    string,
    string,
  ];
  const document = readFileSync(file, 'utf8');
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no lines ${begin} and ${end}`);
  const before = document.slice(0, from + begin.length);
  writeFileSync(file, `${before}\n\n${text}\n\n${document.slice(to)}`);
}
