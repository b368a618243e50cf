import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { addExports, chunkFactory } from './chunk-factory.ts';

const names = {
  resolve: (specifier: string) => specifier.replace('./', 'chunks/'),
  idOf: (fileName: string) => ['chunks/a.js', 'chunks/b.js', 'chunks/c.js'].indexOf(fileName),
};

/** The factory of a chunk, with all that it exports. */
function wholeFactory(code: string): string {
  const factory = chunkFactory(code, 'd.js', names);
  addExports(factory);
  return factory.code.toString();
}

test('imports, exports and import() become calls', () => {
  const factory = chunkFactory(
    `import { x as y, z } from "./a.js";
import "./b.js";
export { q as p } from "./b.js";
let count = y;
const later = () => import("./c.js");
const here = import.meta.url;
class Made { constructor() { this.target = new.target; } }
export { count as n, later, Made as unused };`,
    'chunks/d.js',
    names,
  );
  addExports(factory, (name) => name !== 'unused');
  expect(factory.code.toString()).toMatchInlineSnapshot(`
    "(__weftNeed, __weftLoad) => {
    const { x: y, z: z } = __weftNeed(0);
    __weftNeed(1);

    let count = y;
    const later = () => __weftLoad(2);
    const here = self.location.href;
    class Made { constructor() { this.target = new.target; } }

    return { get p() { return __weftNeed(1).q; }, n: count, later: later };
    }"
  `);
  expect([...factory.needs]).toEqual([
    ['chunks/a.js', ['x', 'z']],
    ['chunks/b.js', ['q']],
  ]);
  expect(factory.loads).toEqual(['chunks/c.js']);
});

test('what a chunk exports is what it holds at the time', () => {
  const code = wholeFactory('let n = 1;\nconst add = () => n++;\nexport { add, n };');
  const make = runInThisContext(code) as () => { add(): void; n: number };
  const made = make();
  made.add();
  expect(made.n).toBe(2);
});

test('what a function of another chunk makes is there once it was called', () => {
  const code = wholeFactory(
    'import { n as hash, t as init_hash } from "./a.js";\ninit_hash();\nconst f = () => hash();\nexport { f };',
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
  const make = runInThisContext(code) as (need: () => object) => { f(): number };
  expect(make(() => other).f()).toBe(7);
});

test('a chunk may import something of any name', () => {
  const imported = ['need', 'load', 'self'].join(', ');
  const code = wholeFactory(`import { ${imported} } from "./a.js";\nexport { load };`);
  const make = runInThisContext(code) as (need: () => object) => { load: string };
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
