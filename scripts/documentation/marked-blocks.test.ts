import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { blocksOf, unmarked } from './marked-blocks.mjs';

test('blocks have a place, a language and a mark', () => {
  const root = mkdtempSync(join(tmpdir(), 'weft-blocks-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(
    join(root, 'page.md'),
    '# A\n\n```ts run\nlet a;\nlet b;\n```\n\n- item\n\n  ```ts\n  c\n  ```\n\n```text\nd\n```\n',
  );
  const blocks = blocksOf(root, 'page.md');
  expect(blocks).toEqual([
    { place: 'page.md:3', language: 'ts', check: 'run', lines: ['let a;', 'let b;'] },
    { place: 'page.md:10', language: 'ts', check: undefined, lines: ['  c'] },
    { place: 'page.md:14', language: 'text', check: undefined, lines: ['d'] },
  ]);
  expect(unmarked(blocks)).toEqual([
    'page.md:10: got a block `ts` without a mark, expected run, check or fragment after the language',
  ]);
});
