import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILTIN_IMPORTERS } from './operators/index.ts';
import { CUSTOM_IMPORTERS } from './operators/custom.ts';

const PAGE = new URL('../../../docs/tflite.md', import.meta.url);

test('the page of TensorFlow Lite lists each operator with what it becomes', () => {
  const rows = Object.entries({ ...BUILTIN_IMPORTERS, ...CUSTOM_IMPORTERS })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { makes }]) => {
      const ops = makes.split(' ').filter((op) => op !== '');
      return `| ${name} | ${ops.map((op) => `\`${op}\``).join(', ') || 'the graph'} |`;
    });
  const page = readFileSync(PAGE, 'utf8');
  const begin = page.indexOf('| operator | becomes |');
  const table = page.slice(begin).trimEnd();
  expect(table).toBe(['| operator | becomes |', '|---|---|', ...rows].join('\n'));
});
