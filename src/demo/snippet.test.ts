import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { forHostPage } from './snippet.ts';

const FOLDER = new URL('snippets/', import.meta.url);

test.each(readdirSync(FOLDER))('%s is ten lines at most, and imports the package', (name) => {
  const text = forHostPage(readFileSync(new URL(name, FOLDER), 'utf8'));
  expect(text.split('\n').length).toBeLessThanOrEqual(10);
  expect(text).toMatch(/from 'weft-vm\/(tasks|text)'/);
  expect(text).not.toContain('../');
});
