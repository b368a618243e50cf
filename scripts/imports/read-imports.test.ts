import { expect, test } from 'vitest';
import { importedNames } from './read-imports.ts';

test('importedNames reads every kind of import', () => {
  const text = `
    import value, { type A } from './value.ts';
    import type { B } from '../type.ts';
    import './effect.ts';
    import { readFileSync } from 'node:fs';
    export { c } from './named.ts';
    export type * from './all.ts';
    const later = () => import('./later.ts');
    const split = () => import(
      "./split.ts"
    );
    const unknown = (name: string) => import(name);
    const quoted = "import('./text.ts')"; // import('./comment.ts')
  `;
  const names = importedNames('example.ts', text);
  expect(names.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    'now ./value.ts',
    'type ../type.ts',
    'now ./effect.ts',
    'now node:fs',
    'now ./named.ts',
    'type ./all.ts',
    'later ./later.ts',
    'later ./split.ts',
  ]);
});
