import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from './version.ts';

test('is that of package.json', () => {
  const text = readFileSync('package.json', 'utf8');
  expect(JSON.parse(text)).toMatchObject({ version: VERSION });
});
