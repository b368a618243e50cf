import { expect, test } from 'vitest';
import { builtinsDocument } from './testing/builtins-document.ts';

// When it is stale: npx vitest run src/bytecode/builtins-document.test.ts --update
test('docs/builtins.md is what the table of builtins says', async () => {
  await expect(builtinsDocument()).toMatchFileSnapshot('../../docs/builtins.md');
});
