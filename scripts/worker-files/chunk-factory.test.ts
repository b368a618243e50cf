import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { chunkFactory } from './chunk-factory.ts';

const names = {
  resolve: (specifier: string) => specifier.replace('./', 'chunks/'),
  idOf: (fileName: string) => ['chunks/a.js', 'chunks/b.js', 'chunks/c.js'].indexOf(fileName),
};

test('imports, exports and import() become calls', () => {
  const { code, needs, loads } = chunkFactory(
    `import { x as y, z } from "./a.js";
import "./b.js";
export { q as p } from "./b.js";
let count = y;
const later = () => import("./c.js");
const here = import.meta.url;
class Made { constructor() { this.target = new.target; } }
export { count as n, later };`,
    'chunks/d.js',
    names,
  );
  expect(code.toString()).toMatchInlineSnapshot(`
    "(__weftNeed, __weftLoad) => {
    const { x: y, z: z } = __weftNeed(0);
    __weftNeed(1);

    let count = y;
    const later = () => __weftLoad(2);
    const here = self.location.href;
    class Made { constructor() { this.target = new.target; } }

    return { get p() { return __weftNeed(1).q; }, get n() { return count; }, get later() { return later; } };
    }"
  `);
  expect(needs).toEqual(['chunks/a.js', 'chunks/b.js', 'chunks/b.js']);
  expect(loads).toEqual(['chunks/c.js']);
});

test('what a chunk exports is what it holds at the time', () => {
  const { code } = chunkFactory(
    'let n = 1;\nconst add = () => n++;\nexport { add, n };',
    'd.js',
    names,
  );
  const make = runInThisContext(code.toString()) as () => { add(): void; n: number };
  const made = make();
  made.add();
  expect(made.n).toBe(2);
});

test('what a function of another chunk makes is there once it was called', () => {
  const { code } = chunkFactory(
    'import { n as hash, t as init_hash } from "./a.js";\ninit_hash();\nconst f = () => hash();\nexport { f };',
    'd.js',
    names,
  );
  let hash: (() => number) | undefined;
  const other = {
    t: () => {
      hash = () => 7;
    },
    get n() {
      return hash;
    },
  };
  const make = runInThisContext(code.toString()) as (need: () => object) => { f(): number };
  expect(make(() => other).f()).toBe(7);
});

test('a chunk may import something of any name', () => {
  const imported = ['need', 'load', 'self'].join(', ');
  const { code } = chunkFactory(
    `import { ${imported} } from "./a.js";\nexport { load };`,
    'd.js',
    names,
  );
  const make = runInThisContext(code.toString()) as (need: () => object) => { load: string };
  expect(make(() => ({ need: 'n', load: 'l', self: 's' })).load).toBe('l');
});

test.each([
  ['import all from "./a.js";', 'ImportDefaultSpecifier'],
  ['import * as all from "./a.js";', 'ImportNamespaceSpecifier'],
  ['export default 1;', 'ExportDefaultDeclaration'],
  ['export const a = 1;', 'export with a declaration'],
  ['const f = (name) => import(name);', 'import() of a value'],
  ['const f = import.meta.env;', 'import.meta'],
])('%s is refused', (code, found) => {
  expect(() => chunkFactory(code, 'd.js', names)).toThrow(
    `internal: d.js holds ${found}, which no worker file can`,
  );
});
