import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAMILIES } from './operators/index.ts';

test('the page of TensorFlow.js lists the operators that are read', async () => {
  const lines = Object.entries(FAMILIES).map(([family, operators]) => {
    const names = Object.entries(operators).map(([name, { makes }]) => {
      const made = makes.replaceAll(' ', ', ');
      return made === '' ? `\`${name}\`` : `\`${name}\` (${made})`;
    });
    return `| ${family} | ${names.join(', ')} |`;
  });
  const path = new URL('../../../docs/tfjs.md', import.meta.url).pathname;
  const [before = ''] = readFileSync(path, 'utf8').split('| family |');
  const table = ['| family | operators |', '|---|---|', ...lines].join('\n');
  await expect(`${before}${table}\n`).toMatchFileSnapshot(path);
});
