import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';
import { expect, test } from 'vitest';

const dist = new URL('../../dist/', import.meta.url);
const files = readdirSync(dist).filter((name) => /^static.*\.js$/.test(name));

test('the entries for service workers import each other, and nothing on demand', () => {
  expect(files).toEqual(
    expect.arrayContaining(['static.js', 'static-shared.js', 'static-tasks.js', 'static-text.js']),
  );
  for (const name of files) {
    const code = readFileSync(new URL(name, dist), 'utf8');
    const { staticImports, dynamicImports } = parseSync(name, code).module;
    expect(dynamicImports).toEqual([]);
    const imported = staticImports.map(({ moduleRequest }) => moduleRequest.value.slice(2));
    expect(files).toEqual(expect.arrayContaining(imported));
  }
});
