import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONSUMERS } from './consumers.ts';

test.each([
  ['README.md', (count: number) => `| [${count}](docs/package.md) |`],
  ['docs/package.md', (count: number) => `tested in ${count} environments`],
])('%s says in how many environments the package is tried', (page, words) => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  expect(text).toContain(words(CONSUMERS.length));
});
