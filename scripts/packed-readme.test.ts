import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withAddresses } from './packed-readme.mjs';
import { pathOf } from './site/pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const SITE = 'https://weft.example/machine';

test('every link of the packed README leads to a page or a picture of the site', () => {
  const link = /\]\((?!https?:)([^)#]*)/g;
  const text = readFileSync(`${root}/README.md`, 'utf8');
  const packed = withAddresses(text, SITE);
  const files = [...text.matchAll(link)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) {
    expect(existsSync(`${root}/${file}`), file).toBe(true);
    expect(packed).toContain(`](${SITE}/${pathOf(file)}`);
  }
  expect([...packed.matchAll(link)]).toEqual([]);
});

test('headings stay, and links that lead elsewhere', () => {
  const text =
    '[a](docs/README.md#tasks), [b](#here), [c](https://x.example/y), ![d](docs/pictures/weft.svg)';
  expect(withAddresses(text, 'https://weft.example/')).toBe(
    '[a](https://weft.example/docs/index.html#tasks), [b](#here), [c](https://x.example/y), ' +
      '![d](https://weft.example/docs/pictures/weft.svg)',
  );
});
