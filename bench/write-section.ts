import { readFileSync, writeFileSync } from 'node:fs';

const BEGIN = '<!-- npm run bench -- --write: begin -->';
const END = '<!-- npm run bench -- --write: end -->';

/** Replaces what stands between the benchmark's markers in a document. Throws without markers. */
export function writeSection(file: string, text: string): void {
  const document = readFileSync(file, 'utf8');
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${file} has no lines ${BEGIN} and ${END}`);
  const before = document.slice(0, begin + BEGIN.length);
  writeFileSync(file, `${before}\n\n${text}\n\n${document.slice(end)}`);
}
