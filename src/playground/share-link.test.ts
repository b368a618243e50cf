import { expect, test } from 'vitest';
import { EXAMPLES } from './examples.ts';
import { decodeProgram, encodeProgram } from './share-link.ts';

test('a link holds a program and its arguments', async () => {
  for (const { program, input } of [...EXAMPLES, { program: '// ä → 漢', input: '' }]) {
    const hash = await encodeProgram({ program, input });
    expect(hash).toMatch(/^#p=[\w-]+$/);
    expect(await decodeProgram(hash)).toEqual({ program, input });
  }
});

test('a hash that holds none gives none', async () => {
  const hash = await encodeProgram({ program: 'def @main() { 1 }', input: '{}' });
  for (const wrong of ['', '#top', hash.slice(0, -8), '#p=AAAA']) {
    expect(await decodeProgram(wrong)).toBeUndefined();
  }
});
