import { describe, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { call, callFunction, func, global, moduleOf, variable } from '../ir/build.ts';
import { moduleFromJson, moduleToJson } from '../ir/json/json.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import type { Module } from '../ir/expr.ts';
import { equalModules } from '../ir/walk/structural-equal.ts';

const TEXT = `private def @square(%x: Tensor[(n,), float32]) { mul(%x, %x) }
private def @dead(%x: Tensor[(n,), float32]) { @square(@dead(%x)) }
private def @power(%x: Tensor[(n,), float32], %n: int) -> Tensor[(n,), float32] {
  if (int_lt(%n, #2)) { %x } else { mul(%x, @power(%x, int_sub(%n, #1))) }
}
def @main(%x: Tensor[(n,), float32]) { add(@square(%x), @power(%x, #3)) }`;

/** 1,000 functions, each calling the next. */
function chain(mark: string): Module {
  const links = Array.from({ length: 1_000 }, (_, i) => {
    const head = `def @f${i}(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32]`;
    return `${mark} ${head} { neg(@f${i + 1}(relu(%x))) }`;
  });
  return parseModule(`${links.join('\n')}
    ${mark} def @f1000(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { %x }
    def @main(%x: Tensor[(n,), float32]) { @f0(%x) }`);
}

const functionsOf = (module: Module, options = {}): string[] =>
  compile(module, options).functions.map(({ name }) => name);

describe('private functions', () => {
  test('are printed, read, built and kept as JSON', () => {
    const module = parseModule(TEXT);
    const printed = printModule(module);
    expect(printed.match(/private def @\w+/g)).toEqual([
      'private def @square',
      'private def @dead',
      'private def @power',
    ]);
    expect(printModule(parseModule(printed))).toBe(printed);
    expect(printModule(moduleFromJson(moduleToJson(module)))).toBe(printed);
    const x = variable('x', 'float32', ['n']);
    const built = moduleOf({
      twice: func([x], call('add', [x, x]), { private: true }),
      main: func([x], callFunction(global('twice'), [x])),
    });
    expect(printModule(built)).toContain('private def @twice(%x: Tensor[(n,), float32])');
    expect(equalModules(parseModule(TEXT.replace('private ', '')), module)).toBe(false);
  });

  test('leave the program once nothing calls them, and are no entries', () => {
    const executable = compile(parseModule(TEXT), { verify: true });
    expect(
      executable.functions.map(({ name, signature }) => [name, signature !== undefined]),
    ).toEqual([
      ['power', false],
      ['main', true],
    ]);
    expect(functionsOf(parseModule(TEXT.replaceAll('private ', '')))).toEqual([
      'square',
      'dead',
      'power',
      'main',
    ]);
  });

  test('1,000 of them in a chain cost less than as many entries', () => {
    const [open, closed] = ['', 'private'].map((mark) => compile(chain(mark)).toBytes().byteLength);
    expect({ open, closed }).toMatchInlineSnapshot(`
      {
        "closed": 37120,
        "open": 328704,
      }
    `);
  });

  test('all of a module are refused', () => {
    const text = 'private def @main(%x: Tensor[(n,), float32]) { %x }';
    expect(() => compile(parseModule(text), { without: ['inline'] })).toThrow(
      'ir:1:13: got only private functions, expected one that sessions may call, such as @main.',
    );
    expect(() => compile(parseModule(text))).toThrow('got only private functions');
  });

  test('stand before def alone', () => {
    expect(() =>
      parseModule('private extern def @f(%x: int) -> int'),
    ).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: ir:1:1: got "private", expected def, private def, extern def, kernel, type, meta or metadata.
      1 | private extern def @f(%x: int) -> int
        | ^]
    `);
    expect(() => parseModule('private @f(%x: int) { %x }')).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: ir:1:1: got "private", expected def, private def, extern def, kernel, type, meta or metadata.
      1 | private @f(%x: int) { %x }
        | ^]
    `);
  });
});
