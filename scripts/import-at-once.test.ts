import { expect, test } from 'vitest';
import { importAtOnce } from './import-at-once.ts';

const transformed = (code: string, id = '/home/src/a.ts') =>
  Reflect.apply(importAtOnce().transform as () => unknown, undefined, [code, id]) as {
    readonly code: string;
  } | null;

test('each import() becomes an import behind the lines of the module', () => {
  const code = `type Loaded = typeof import('./b.ts');
export async function load(): Promise<Loaded> {
  const { c } = await import('../c.ts');
  return c() ?? import('./b.ts');
}
`;
  expect(transformed(code)?.code).toMatchInlineSnapshot(`
    "type Loaded = typeof import('./b.ts');
    export async function load(): Promise<Loaded> {
      const { c } = await Promise.resolve(loaded0);
      return c() ?? Promise.resolve(loaded1);
    }
    import * as loaded0 from '../c.ts';
    import * as loaded1 from './b.ts';
    "
  `);
});

test('other modules, and those of packages, stay as they are', () => {
  expect(transformed("export * from './b.ts';")).toBe(null);
  expect(transformed("import('./b.js');", '/home/node_modules/a/index.js')).toBe(null);
});
