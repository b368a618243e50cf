import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findUndocumented } from './find-undocumented.ts';
import { Sources } from './source-module.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')) as {
  readonly include: readonly string[];
};
const entries = include.map((entry) => join(root, entry));

test('every public symbol of the package has a docstring', () => {
  const { symbols, undocumented } = findUndocumented(entries, { root });
  expect(undocumented).toEqual([]);
  expect(symbols.length).toBeGreaterThan(1500);
});

test('every public function and constant is named in the code of a page', () => {
  const pages = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => readFileSync(join(root, 'docs', name), 'utf8'));
  const code = pages.flatMap((page) => page.match(/```[^]*?```|`[^`\n]+`/g) ?? []).join('\n');
  const named = new Set(code.match(/\w+/g));
  const sources = new Sources();
  const unnamed = entries.flatMap((entry) => {
    const module = sources.module(entry);
    const isValue = (name: string): boolean => {
      const found = module.exported(name);
      if ('statement' in found) return false;
      // Functions of operators are named by rule: `leakyRelu` is `leaky_relu` of docs/operators.md.
      return found.some(
        ({ module: { path }, node }) =>
          /Function|Variable/.test(node.type) && !path.endsWith('program/operators.ts'),
      );
    };
    return module.exportedNames().filter((name) => isValue(name) && !named.has(name));
  });
  expect(unnamed).toEqual([]);
});

/** Symbols of `index.ts`, one of some files, and those without a docstring. */
function find(files: Readonly<Record<string, string>>): {
  readonly symbols: string;
  readonly undocumented: readonly string[];
} {
  const folder = mkdtempSync(join(tmpdir(), 'weft-docstrings-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const found = findUndocumented([join(folder, 'index.ts')], { root: folder });
  return { ...found, symbols: found.symbols.join(' ') };
}

test('declarations of every kind need one', () => {
  const { symbols, undocumented } = find({
    'index.ts': `/** Of a. */
export function a() {}
export function b() {}
/** Of c. */
// What follows is strange.
export const c = 1;
export const d = () => 1;
/** */
export type E = string;
// No docstring.
export class F {}
const g = 1; /** Behind the code. */
export interface H {}
/** Of i. */

export abstract class I {}
const j = 1;
export { j as k };
/** Not exported. */
const l = { inner: 1 };
`,
  });
  expect(symbols).toBe('a b c d E F H I k');
  expect(undocumented).toEqual([
    'index.ts:3 b',
    'index.ts:7 d',
    'index.ts:9 E',
    'index.ts:11 F',
    'index.ts:13 H',
    'index.ts:17 k',
  ]);
});

test('members of classes and interfaces need one, but for those that are not public', () => {
  const { symbols, undocumented } = find({
    'index.ts': `/** Of A. */
export class A {
  #hidden = 1;
  private own = 1;
  protected shared = 1;
  readonly field = 1;
  /** Of both. */
  get both() { return 1; }
  set both(value) {}
  set single(value: number) {}
  static of() {}
  /** Of the other one. */
  of() {}
  constructor() {}
  /** @internal */
  inner() {}
  [Symbol.dispose]() {}
  'quoted name' = 1;
  abstract later(): void;
}
/** Of B. */
export interface B {
  readonly field: { readonly spelled: 1 };
  method(): void;
  /** Of a getter. */
  get value(): number;
  (call: number): void;
  new (call: number): B;
  [index: string]: unknown;
}
/** @internal */
export interface C { field: 1 }
/** Of C2. */
export interface C2 extends C {}
/** Of D. */
export type D = { field: 1 };
`,
  });
  expect(symbols).toBe(
    'A A.field A.both A.single A.of A.of A.[Symbol.dispose] A.quoted name A.later ' +
      'B B.field B.method B.value C2 C2.field D',
  );
  expect(undocumented).toEqual([
    'index.ts:6 A.field',
    'index.ts:10 A.single',
    'index.ts:11 A.of',
    'index.ts:17 A.[Symbol.dispose]',
    'index.ts:18 A.quoted name',
    'index.ts:19 A.later',
    'index.ts:23 B.field',
    'index.ts:24 B.method',
    'index.ts:32 C2.field',
  ]);
});

test('one signature of a function has it, not what implements them', () => {
  const { symbols, undocumented } = find({
    'index.ts': `/** One of the signatures. */
export function a(x: number): void;
export function a(x: string): void;
export function a(x: unknown) {}
export function b(x: number): void;
/** Nobody sees it. */
export function b(x: unknown) {}
/** Of C. */
export class C {
  a(x: number): void;
  /** One of the signatures. */
  a(x: string): void;
  a(x: unknown) {}
  b(x: number): void;
  /** Nobody sees it. */
  b(x: unknown) {}
}
/** The type of this name. */
export type D = 1;
export const D = 1;
`,
  });
  expect(symbols).toBe('a b C C.a C.b D D');
  expect(undocumented).toEqual(['index.ts:5 b', 'index.ts:14 C.b', 'index.ts:20 D']);
});

test('exports are followed to where they are declared, once', () => {
  const { symbols, undocumented } = find({
    'index.ts': `import { b as own } from './b.ts';
import * as later from './d.ts';
export * from './a.ts';
export { own, own as again };
export type { C as Renamed } from './b.ts';
export * as d from './d.ts';
export { later };
export { join } from 'node:path';
`,
    'a.ts': "export * from './b.ts';\nexport const a = 1;\n",
    'b.ts': 'export const b = 1;\nexport interface C { field: 1 }\n',
    'd.ts': 'export const e = 1;\n/** Of f. */\nexport const f = 1;\n',
  });
  expect(symbols).toBe('d later own Renamed Renamed.field d.e d.f a');
  expect(undocumented).toEqual([
    'index.ts:6 d',
    'index.ts:2 later',
    'b.ts:1 own',
    'b.ts:2 Renamed',
    'b.ts:2 Renamed.field',
    'd.ts:1 d.e',
    'a.ts:2 a',
  ]);
});

test('members that come from what is not exported count, and docstrings of parents do', () => {
  const { symbols, undocumented } = find({
    'index.ts': `import { Base, type Other } from './base.ts';
/** Of A. */
export class A extends Base<number> implements Contract {
  kept = 1;
  promised() {}
  more = 1;
}
/** Of B. */
export interface B extends Partial<Omit<Other, 'x'>>, Contract, Error {}
/** Of Contract. */
export interface Contract {
  /** A promise. */
  promised(): void;
}
`,
    'base.ts': `export class Base<T> {
  /** Of kept. */
  kept = 0;
  inherited = 1;
  private own = 1;
}
interface Wide { wide: 1 }
export type Other = Wide & { narrow: 1 };
`,
  });
  expect(symbols).toBe(
    'A A.kept A.promised A.more A.inherited B B.wide B.narrow Contract Contract.promised',
  );
  expect(undocumented).toEqual([
    'index.ts:6 A.more',
    'base.ts:4 A.inherited',
    'base.ts:7 B.wide',
    'base.ts:8 B.narrow',
  ]);
});

test('what cannot be followed is refused', () => {
  expect(() => find({ 'index.ts': 'export default 1;' })).toThrow('export default');
  expect(() => find({ 'index.ts': 'export const { a } = { a: 1 };' })).toThrow('pattern');
  expect(() => find({ 'index.ts': 'export class A extends mix(B) {}' })).toThrow('has no name');
  const mapped = 'type B = { [K in string]: 1 };\nexport interface A extends B {}';
  expect(() => find({ 'index.ts': mapped })).toThrow('members by rule');
  expect(() => find({ 'index.ts': 'export interface A extends Omit<{}, 1> {}' })).toThrow('name');
  expect(() => find({ 'index.ts': 'export const a = ;' })).toThrow('index.ts');
});
