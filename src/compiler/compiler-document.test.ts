import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compile } from './compile.ts';
import { parseModule } from './ir/text/parse.ts';
import { printModule } from './ir/text/print.ts';

const DOCUMENT = readFileSync(new URL('../../docs/compiler-walk.md', import.meta.url), 'utf8');

const functionsOf = (text: string): string[] => text.trimEnd().split(/\n\n(?=def )/);

/** The functions of the document's program after each pass that changes them, as the document has to show them. */
function sections(program: string): string[] {
  const shown: string[] = [];
  let last: readonly string[] = [];
  const section = (title: string, text: string): void => {
    const functions = functionsOf(text);
    const changed = functions.filter((one) => !last.includes(one)).join('\n\n');
    if (changed !== '') shown.push(`**${title}**\n\n\`\`\`\n${changed}\n\`\`\`\n`);
    last = functions;
  };
  const dump = (pass: string, text: string): void => {
    if (pass === 'source') last = functionsOf(text);
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
