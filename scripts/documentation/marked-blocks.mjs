// Fenced blocks of Markdown files. The word after the language says how a block is checked:
//   ```sh run       a shell script, run in the root of the repository with `sh -e`
//   ```ts run       a module, type-checked and run in Node with WebGPU
//   ```ts check     a module that is type-checked only
//   ```html run     a page, opened in a browser until its <output> has a text that ends in no ellipsis
//   ```… fragment   part of a program: shown, and counted
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Languages of programs, whose blocks have to say how they are checked. */
const PROGRAMS = new Set(['ts', 'js', 'html', 'sh']);
const CHECKS = new Set(['run', 'check', 'fragment']);

/** `{ place, language, check, lines }` of every fenced block of a file below `root`. */
export function blocksOf(root, file) {
  const blocks = [];
  let open;
  for (const [index, line] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
    const fence = /^\s*```(.*)$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined) {
      const [language = '', check] = fence[1].trim().split(/\s+/);
      open = { place: `${file}:${index + 1}`, language, check, lines: [] };
    } else {
      blocks.push(open);
      open = undefined;
    }
  }
  return blocks;
}

/** A complaint for each program that does not say how it is checked. */
export function unmarked(blocks) {
  return blocks
    .filter(({ language, check }) => PROGRAMS.has(language) && !CHECKS.has(check))
    .map(
      ({ place, language }) =>
        `${place}: got a block \`${language}\` without a mark, expected run, check or fragment after the language`,
    );
}
