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

test('a hash of a few bytes that stand for many gives none', async () => {
  const program = 'x'.repeat(2 ** 20 - 100);
  const hash = await encodeProgram({ program, input: '' });
  expect(hash.length).toBeLessThan(5000);
  expect(await decodeProgram(hash)).toEqual({ program, input: '' });
  const large = new Response(
    new Blob([JSON.stringify(['x'.repeat(2 ** 24), ''])])
      .stream()
      .pipeThrough(new CompressionStream('deflate-raw')),
  );
  const text = Buffer.from(await large.arrayBuffer()).toString('base64url');
  expect(await decodeProgram(`#p=${text}`)).toBeUndefined();
});
