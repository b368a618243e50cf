import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compile } from './compile.ts';
import { parseModule } from './ir/text/parse.ts';
import { printModule } from './ir/text/print.ts';

const DOCUMENT = readFileSync(new URL('../../docs/compiler-walk.md', import.meta.url), 'utf8');

/** The program of the document after each pass that changes it, as the document has to show it. */
function sections(program: string): string[] {
  const shown: string[] = [];
  let last = '';
  const section = (title: string, text: string): void => {
    if (text !== last) shown.push(`**${title}**\n\n\`\`\`\n${text}\`\`\`\n`);
    last = text;
  };
  const dump = (pass: string, text: string): void => {
    if (pass === 'source') last = text;
    else section(pass, text);
  };
  const executable = compile(parseModule(program), {
    // Listings without places are easier to read.
    sourceMap: false,
    dump: (pass, module) => dump(pass, printModule(module)),
  });
  section('the executable', executable.toText());
  return shown;
}

test('docs/compiler-walk.md shows a program after every pass as the compiler does', () => {
  const program = /<!-- program -->\n\n```\n(.*?)```\n/s.exec(DOCUMENT)?.[1] ?? '';
  const expected = sections(program);
  expect(expected.length).toBeGreaterThan(4);
  const [, shown = ''] = /<!-- passes -->\n\n(.*?)\n<!-- end -->/s.exec(DOCUMENT) ?? [];
  expect(shown).toBe(expected.join('\n').trimEnd());
});
