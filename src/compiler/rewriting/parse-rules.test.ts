import { describe, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { runPasses } from '../pass-table.ts';
import { rewriteRules } from '../passes/rewrite-rules.ts';
import { any, anyOrder, calls, commutes, either, filled, once, single } from './expr-pattern.ts';
import { parseRules } from './parse-rules.ts';

const patternOf = (text: string) => parseRules(`${text} => neg(%root)`)[0]?.pattern;

/** The body of a program after rules. */
function after(rules: string, body: string, params = '%x: Tensor[(2, n), float32]'): string {
  const module = parseModule(`def @main(${params}) { ${body} }`);
  const text = printModule(runPasses(module, [rewriteRules('mine', rules)]));
  return text
    .slice(text.indexOf('{') + 1, text.lastIndexOf('}'))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

describe('patterns in text form', () => {
  const x = any('x');
  test.each([
    ['add(log(%x), %y)', calls('add', [calls('log', [x]), any('y')])],
    ['commutes(add(%x, 0))', commutes('add', [x, filled({ equal: 0 })])],
    ['mul(%x, -0.5)', calls('mul', [x, filled({ equal: -0.5 })])],
    ['mul(%x, single(near(0.5)))', calls('mul', [x, single({ near: 0.5 })])],
    ['mul(%x, single(%c = 2))', calls('mul', [x, single({ equal: 2 }, 'c')])],
    ['mul(%x, constant(%c))', calls('mul', [x, filled(undefined, 'c')])],
    ['mul(%x, constant())', calls('mul', [x, filled()])],
    ['where(%s, %x, at_most(-1e30))', calls('where', [any('s'), x, filled({ atMost: -1e30 })])],
    ['exp(once(log(%x)))', calls('exp', [once(calls('log', [x]))])],
    ['exp(%l = log(%x))', calls('exp', [calls('log', [x], { name: 'l' })])],
    ['exp(either(log(%x), %x))', calls('exp', [either(calls('log', [x]), x)])],
    [
      'any_order(mul, 2, %x, exp(%y))',
      anyOrder('mul', [filled({ equal: 2 }), x, calls('exp', [any('y')])]),
    ],
    ['concat(%x, *)', calls('concat', [x], { isVariadic: true })],
    ['transpose(%x, perm=%p)', calls('transpose', [x], { attributes: { perm: { name: 'p' } } })],
    [
      'max_pool(%x, pads=every(0), ceil_mode?=false, strides=[1, 1])',
      calls('max_pool', [x], {
        attributes: {
          pads: { every: 0 },
          ceil_mode: { oneOf: [false], isOptional: true },
          strides: { oneOf: [[1, 1]] },
        },
      }),
    ],
    [
      'pad(%x, mode=one_of("edge", "reflect"))',
      calls('pad', [x], { attributes: { mode: { oneOf: ['edge', 'reflect'] } } }),
    ],
  ])('%s', (text, expected) => {
    expect(patternOf(text)).toEqual(expected);
  });
});

describe('rules in text form', () => {
  test('have names, reasons and conditions', () => {
    const [first, second] = parseRules(`
      "twice" "Because.": add(%x, %x) => mul(%x, 2)
        where dtype(%x) in (float32, int32), rank(%x) == 2, shape(%x) == shape(%root);
      mul( %x, 1 ) =>  %x where dtype(%x) == dtype(%root), rank(%x) == rank(%root)`);
    expect(first).toMatchObject({
      name: 'twice',
      explains: 'Because.',
      types: { x: { dtypes: ['float32', 'int32'], rank: 2, shapeOf: 'root' } },
    });
    expect(second).toMatchObject({
      name: 'mul( %x, 1 ) => %x where dtype(%x) == dtype(%root), rank(%x) == rank(%root)',
      types: { x: { dtypeOf: 'root', rankOf: 'root' } },
    });
  });

  test('replace with captures, numbers of the right dtype, attributes', () => {
    expect(after('exp(log(%x)) => %x', 'exp(log(%x))')).toBe('%x');
    expect(after('add(%x, %x) => mul(%x, 2)', 'add(%x, %x)')).toBe('mul(%x, 2f)');
    const half = '%x: Tensor[(2,), float16]';
    expect(after('add(%x, %x) => mul(%x, 2)', 'add(%x, %x)', half)).toBe('mul(%x, 2f16)');
    const wide = '%x: Tensor[(2,), int64]';
    expect(after('add(%x, %x) => mul(%x, 2)', 'add(%x, %x)', wide)).toBe('mul(%x, 2i64)');
    expect(after('add(%x, %x) => mul(%x, 2i64)', 'add(%x, %x)', wide)).toBe('mul(%x, 2i64)');
    const flat = 'reshape(neg(%x)) => neg(reshape(%x, shape=shape(%root)))';
    expect(after(flat, 'reshape(neg(%x), shape=[2 * n])')).toContain('shape=[(n * 2)]');
    const swap = 'transpose(exp(%x), perm=%p) => exp(transpose(%x, perm=%p))';
    expect(after(swap, 'transpose(exp(%x), perm=[1, 0])')).toBe(
      '%0 = transpose(%x, perm=[1, 0]); exp(%0)',
    );
    const copied = 'softmax(neg(neg(%x))) => softmax(%x, attributes(%root))';
    expect(after(copied, 'softmax(neg(neg(%x)), axis=0)')).toBe('softmax(%x, axis=0)');
  });

  test('do not apply where the type would change, or a fraction is no element', () => {
    const broadcast = '%x: Tensor[(2,), float32], %y: Tensor[(3, 2), float32]';
    expect(after('add(%a, %b) => %a', 'add(%x, %y)', broadcast)).toBe('add(%x, %y)');
    const ints = '%x: Tensor[(2,), int32]';
    expect(after('add(%x, %x) => mul(%x, 2.5)', 'add(%x, %x)', ints)).toBe('add(%x, %x)');
  });

  test('see what only one expression reads', () => {
    const rule = 'exp(once(neg(%x))) => sqrt(exp(%x))';
    expect(after(rule, 'exp(neg(%x))')).toBe('%0 = exp(%x); sqrt(%0)');
    const twice = '%n = neg(%x); add(exp(%n), %n)';
    expect(after(rule, twice)).toContain('neg(%x)');
  });

  test('a rule that makes what operands do not allow is named', () => {
    expect(() =>
      after('"wrong": neg(%x) => matmul(%x, %x)', 'neg(%x)', '%x: Tensor[(2, 3), int32]'),
    ).toThrow(/^rewrite rule "wrong" makes what is not well-typed: /);
  });

  test('rules without an end are refused', () => {
    const rewriting = () => after('"on and on": neg(%x) => neg(neg(%x))', 'neg(%x)');
    expect(rewriting).toThrow(/^rewrite rule "on and on": got 256 rules that applied in turn/);
  });

  test('one error lists what is wrong, with places and the nearest names', () => {
    const text = `rleu(%x) => %x;
transpose(%x, prem=%p) => %x;
add(%value, %y) => %valeu;
either(exp(%x), log(%y)) => %x;
%x => %x;
neg(%x) => %x where size(%x) == 2;
neg(%x, %y) => %x;
neg(%x) => %x neg(%x) => %x`;
    let message = '';
    try {
      parseRules(text, { file: 'mine' });
    } catch (error) {
      message = String(error);
    }
    expect(message.split('\n').filter((line) => line.includes('got'))).toMatchInlineSnapshot(`
      [
        "ParseError: mine:1:1: got "rleu", expected an operator. Did you mean relu?",
        "mine:2:15: got "prem", expected an attribute of transpose: perm. Did you mean perm?",
        "mine:3:20: got "%valeu", expected a name that every match of the pattern has. Did you mean %value?",
        "mine:4:29: got "%x", expected a name that every match of the pattern has.",
        "mine:5:1: got "%x", expected a call of an operator.",
        "mine:6:21: got "size", expected a condition on dtype(…), rank(…) or shape(…).",
        "mine:7:13: got 2 operands of neg, expected at most 1.",
        "mine:8:15: got "neg", expected ";", or where and conditions.",
      ]
    `);
  });
});

test('compile({ rules }) applies them before simplify', () => {
  const text = 'def @main(%x: Tensor[(2,), float32]) { relu(add(log(exp(%x)), 0f)) }';
  const rules = ['log(exp(%x)) => %x;', 'relu(%x) => abs(%x)'];
  const { primitives } = compile(parseModule(text), { rules });
  expect(primitives.map(({ name }) => name)).toEqual(['abs']);
  expect(() => compile(parseModule(text), { rules: ['exp(%x)'] })).toThrow(/^rules\[0\]:1:8: got/);
});
