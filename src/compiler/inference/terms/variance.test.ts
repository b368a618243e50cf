import { describe, expect, test } from 'vitest';
import { compile } from '../../compile.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { inferModule } from '../infer-module.ts';
import { TypeInference } from '../type-inference.ts';
import { formatType } from '../../ir/type.ts';
import { type Variance, variancesOf } from './variance.ts';

const DATA = `
  type Sink[A] { Sink(fn (A) -> int) }
  type Source[A] { Source(fn () -> A) }
  type Cell[A] { Cell(A, Sink[A]) }
  type Twice[A] { Twice(Sink[Sink[A]]) }
  type Chain[A] { Link(fn (Chain[A]) -> int, fn (A) -> int), End }
  type Even[A] { Even(fn (Odd[A]) -> int) }
  type Odd[A] { Odd(fn (Even[A]) -> int, A), Done }
  type Flag[A] { Flag(int) }
  type Rows[A, B] { Rows(List[(A, fn (B) -> int)]) }
`;

function format({ isCovariant, isContravariant }: Variance): string {
  if (isCovariant) return isContravariant ? 'invariant' : 'covariant';
  return isContravariant ? 'contravariant' : 'unused';
}

/** A program in which `from` has to be `to`, data of functions over vectors. */
function passed(from: string, to: string): string {
  return `${DATA}
    def @take(%d: ${to}) -> int { #1 }
    def @main(%d: ${from}) -> int { @take(%d) }`;
}

const vector = (size: string): string => `Tensor[(${size},), float32]`;
const infer = (text: string) => inferModule(parseModule(text, { file: 'test.ir' }));

test('variances are the least fixpoint over all data types', () => {
  const { types } = parseModule(`${DATA} def @main(%x: Rows[int, int]) -> int { #0 }`);
  const all = [...variancesOf(types)].map(([name, of]) => `${name}: ${of.map(format).join(', ')}`);
  expect(all.toSorted()).toMatchInlineSnapshot(`
    [
      "Cell: invariant",
      "Chain: invariant",
      "Even: contravariant",
      "Flag: unused",
      "List: covariant",
      "Odd: covariant",
      "Rows: covariant, contravariant",
      "Sink: contravariant",
      "Source: covariant",
      "Twice: covariant",
    ]
  `);
});

test('a chain of 5,000 data types that mention each other in turn', () => {
  const links = Array.from(
    { length: 5_000 },
    (_, i) => `type T${i}[A] { C${i}(fn (T${i + 1}[A]) -> int) }`,
  );
  const text = `${links.join('\n')} type T5000[A] { C5000(A) } def @main() -> int { #0 }`;
  const variances = variancesOf(parseModule(text).types);
  expect([0, 4_999].map((i) => variances.get(`T${i}`)?.map(format))).toEqual([
    ['covariant'],
    ['contravariant'],
  ]);
});

describe('sizes in data that holds functions', () => {
  test.each([
    ['Sink', '?', '3'],
    ['Source', '3', '?'],
    ['Twice', '3', '?'],
    ['Even', '?', '3'],
    ['Odd', '3', '?'],
    ['Flag', '3', '?'],
  ])('%s over %s is one over %s', (type, from, to) => {
    const [narrow, wide] = [`${type}[${vector(from)}]`, `${type}[${vector(to)}]`];
    expect(() => infer(passed(narrow, wide))).not.toThrow();
    if (type === 'Flag') return;
    expect(() => infer(passed(wide, narrow))).toThrow(`got ${wide}, expected ${narrow}`);
  });

  test.each(['Cell', 'Chain'])('%s is one of its own sizes only', (type) => {
    const [three, any] = [`${type}[${vector('3')}]`, `${type}[${vector('?')}]`];
    expect(() => infer(passed(three, any))).toThrow(`got ${three}, expected ${any}`);
    expect(() => infer(passed(any, three))).toThrow(`got ${any}, expected ${three}`);
    expect(() => infer(passed(three, three))).not.toThrow();
  });

  test('what takes three elements is given no others by way of data', () => {
    const text = (param: string, over: string): string => `${DATA}
      def @rows(%x: ${param}) -> int { dim(%x, axis=0) }
      def @give(%s: ${over}, %x: Tensor[(?,), float32]) -> int { match (%s) { Sink(%f) => %f(%x) } }
      def @main(%x: Tensor[(?,), float32]) -> int { @give(Sink(@rows), %x) }`;
    const any = `Sink[${vector('?')}]`;
    const handed = `${DATA}
      def @give(%s: ${any}, %x: Tensor[(?,), float32]) -> int { match (%s) { Sink(%f) => %f(%x) } }
      def @main(%s: Sink[${vector('3')}], %x: Tensor[(?,), float32]) -> int { @give(%s, %x) }`;
    expect(() => infer(handed)).toThrow(`argument s: got Sink[${vector('3')}], expected ${any}`);
    expect(() => compile(parseModule(text(vector('n'), any)))).not.toThrow();
    expect(() => compile(parseModule(text(vector('?'), any)))).not.toThrow();
    expect(() =>
      compile(parseModule(text(vector('3'), any), { file: 'test.ir' })),
    ).toThrowErrorMatchingInlineSnapshot(
      `[TypeCheckError: test.ir:14:59, argument 1: got fn (Tensor[(3,), float32]) -> int, expected fn (Tensor[(?,), float32]) -> int.]`,
    );
  });

  test('a list of sinks keeps what they take', () => {
    const [three, any] = [`List[Sink[${vector('3')}]]`, `List[Sink[${vector('?')}]]`];
    expect(() => infer(passed(any, three))).not.toThrow();
    expect(() => infer(passed(three, any))).toThrow(`got ${three}, expected ${any}`);
  });

  test('branches have in common what both take', () => {
    const module = infer(`${DATA}
      def @main(%any: Sink[${vector('?')}], %three: Sink[${vector('3')}], %c: int) -> Sink[${vector('3')}] {
        if (%c) { %three } else { %any }
      }`);
    const main = module.functions.get('main');
    const type = main && new TypeInference(module).of(main.body);
    expect(type && formatType(type)).toBe(`Sink[${vector('3')}]`);
  });
});
