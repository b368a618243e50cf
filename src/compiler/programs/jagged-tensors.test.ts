import { describe, expect, test } from 'vitest';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { compile, OPTIONAL_PASSES } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';
import { f32, loadProgram } from '../testing/load-program.ts';

/** Lists of tensors of different lengths, and functions of tensors whose sizes nothing tells before they are called. */

const LIST = `
  Cons([1f], Cons([-1f, 2f, 3f], Cons([4f, -5f], Nil)))`;

const PROGRAMS: readonly (readonly [title: string, text: string, expected: unknown])[] = [
  [
    'a closure called where it is made',
    `def @main(%x: Tensor[(2,), float32]) {
      %f = fn (%y: Tensor[(?,), float32]) -> Tensor[(?,), float32] { relu(%y) };
      %f(%x)
    }`,
    [1, 0],
  ],
  [
    '@map',
    `def @main(%x: Tensor[(2,), float32]) -> List[Tensor[(?,), float32]] {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      @map(fn (%e: Tensor[(?,), float32]) -> Tensor[(?,), float32] { relu(add(%e, %e)) }, %list)
    }`,
    [0, [2], [0, [0, 4, 6], [0, [8, 0], [1]]]],
  ],
  [
    '@foldl',
    `def @main(%x: Tensor[(2,), float32]) -> Tensor[(?,), float32] {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      let %first: Tensor[(?,), float32] = %x;
      @foldl(fn (%a, %b) { concat(%a, neg(%b), axis=0) }, %first, %list)
    }`,
    [1, -2, -1, 1, -2, -3, -4, 5],
  ],
  [
    '@map of a global function over a named size',
    `def @twice(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { relu(add(%x, %x)) }
    def @main(%x: Tensor[(2,), float32]) -> List[Tensor[(?,), float32]] {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      @map(@twice, %list)
    }`,
    [0, [2], [0, [0, 4, 6], [0, [8, 0], [1]]]],
  ],
  [
    '@map of a closure over a named size',
    `def @main(%x: Tensor[(2,), float32]) -> List[Tensor[(?,), float32]] {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      @map(fn (%y: Tensor[(m,), float32]) -> Tensor[(m + 1,), float32] {
        concat(full(shape=[m], value=2), reduce_sum(%x, axes=[0], keepdims=true), axis=0)
      }, %list)
    }`,
    [0, [2, -1], [0, [2, 2, 2, -1], [0, [2, 2, -1], [1]]]],
  ],
  [
    'a closure in a closure, which captures what has an unknown size',
    `def @main(%x: Tensor[(2,), float32]) -> List[Tensor[(?,), float32]] {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      @map(fn (%y: Tensor[(?,), float32]) -> Tensor[(?,), float32] {
        %inner = fn (%z: Tensor[(?,), float32]) -> Tensor[(?,), float32] { concat(%y, relu(%z), axis=0) };
        %inner(relu(%y))
      }, %list)
    }`,
    [0, [1, 1], [0, [-1, 2, 3, 0, 2, 3], [0, [4, -5, 4, 0], [1]]]],
  ],
  [
    'sizes in tuples and in data of parameters',
    `def @main(%x: Tensor[(2,), float32]) -> Tensor[(?,), float32] {
      %f = fn (%p: (Tensor[(?,), float32], Option[Tensor[(?,), float32]])) -> Tensor[(?,), float32] {
        match (%p.1) { Some(%y) => concat(neg(%p.0), mul(%y, 2f), axis=0), None => relu(%p.0) }
      };
      concat(%f((%x, None)), %f((%x, Some([7f, 8f, 9f]))), axis=0)
    }`,
    [1, 0, -1, 2, 14, 16, 18],
  ],
  [
    '@foldl from a known size, whose result is read at once',
    `def @main(%x: Tensor[(2,), float32]) {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      (relu(@foldl(fn (%a, %b) { concat(%a, neg(%b), axis=0) }, %x, %list)),
       @foldl(fn (%a, %b) { concat(%b, neg(%b), axis=0) }, %x, %list))
    }`,
    [0, [1, 0, 0, 1, 0, 0, 0, 5], [4, -5, -4, 5]],
  ],
  [
    'a named size that a pattern mentions',
    `def @main(%x: Tensor[(2,), float32]) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      let %y = {
        let %z: Tensor[(k,), float32] = slice(@foldl(fn (%a, %b) { concat(%a, %b, axis=0) }, %x, %list), starts=[0], ends=[3]);
        add(%z, full(shape=[k], value=2))
      };
      match ((Cons(%y, %list), Some(%y))) {
        (Cons(%head, _), Some(%same)) => (%head, neg(%same)),
        _ => (%x, %x),
      }
    }`,
    [0, [3, 0, 3], [-3, -0, -3]],
  ],
  [
    'a named size that turns out to be that of another tensor',
    `def @half(%x: Tensor[(n,), float32]) -> Tensor[(?,), float32] {
      if (int_lt(dim(%x, axis=0), #2)) { concat(%x, %x, axis=0) } else { relu(%x) }
    }
    def @main(%x: Tensor[(n,), float32]) -> Tensor[(?,), float32] {
      let %y: Tensor[(k,), float32] = slice(@half(%x), starts=[0], ends=[6]);
      let %z: Tensor[(k,), float32] = add(%y, %x);
      add(%z, full(shape=[k], value=1))
    }`,
    [3, -1],
  ],
  [
    'one of two closures, called and mapped',
    `def @main(%x: Tensor[(2,), float32]) -> (Tensor[(?,), float32], List[Tensor[(?,), float32]]) {
      let %list: List[Tensor[(?,), float32]] = ${LIST};
      let %f: fn (Tensor[(?,), float32]) -> Tensor[(?,), float32] = match (%list) {
        Cons(_, _) => fn (%y: Tensor[(m,), float32]) -> Tensor[(?,), float32] { add(%y, full(shape=[m], value=1)) },
        Nil => fn (%y: Tensor[(m,), float32]) -> Tensor[(?,), float32] { relu(%y) },
      };
      (%f(%x), @map(%f, %list))
    }`,
    [0, [2, -1], [0, [2], [0, [0, 3, 4], [0, [5, -4], [1]]]]],
  ],
];

describe.each(DEVICES)('on $title', ({ open }) => {
  test.each(PROGRAMS)('%s', async (_, text, expected) => {
    const device = await open();
    const { run, vm } = await loadProgram(text, { device });
    expect(await run('main', f32([2], 1, -2))).toEqual(expected);
    vm.dispose();
    device.destroy();
  });
});

describe('a function over a named size as a value', () => {
  const host = async (text: string) => (await loadProgram(text)).run;

  test('compares sizes that have one name, though its type at the call says nothing of them', async () => {
    const text = `def @main(%a: Tensor[(n,), float32], %b: Tensor[(k,), float32]) -> Tensor[(?,), float32] {
      @apply(fn (%x: Tensor[(m,), float32], %y: Tensor[(m,), float32]) -> Tensor[(m,), float32] {
        add(%x, %y)
      }, %a, %b)
    }
    def @apply<A>(%f: fn (A, A) -> A, %x: A, %y: A) -> A { %f(%x, %y) }`;
    const program = text.replaceAll('@apply(fn', '@apply<Tensor[(?,), float32]>(fn');
    const run = await host(program);
    expect(await run('main', f32([2], 1, 2), f32([2], 3, 4))).toEqual([4, 6]);
    await expect(run('main', f32([2], 1, 2), f32([1], 3))).rejects.toThrow(
      'input "y": got 1 at dimension 0 of shape (1,), expected 2.',
    );
  });

  test('compares sizes that are computed, whatever comes first', async () => {
    const text = `def @main(%a: Tensor[(n,), float32], %b: Tensor[(k,), float32]) -> Tensor[(?,), float32] {
      @apply<Tensor[(?,), float32]>(fn (%x: Tensor[(m + 1,), float32], %y: Tensor[(m,), float32]) -> Tensor[(m + m + 1,), float32] {
        concat(%x, %y, axis=0)
      }, %a, %b)
    }
    def @apply<A>(%f: fn (A, A) -> A, %x: A, %y: A) -> A { %f(%x, %y) }`;
    const run = await host(text);
    expect(await run('main', f32([2], 1, 2), f32([1], 3))).toEqual([1, 2, 3]);
    await expect(run('main', f32([2], 1, 2), f32([2], 3, 4))).rejects.toThrow(
      'input "x": got 2 at dimension 0 of shape (2,), expected 3.',
    );
  });

  test('is refused where the size is that of the function around it', () => {
    const text = `def @main(%x: Tensor[(n,), float32], %list: List[Tensor[(?,), float32]]) {
      @map(fn (%y: Tensor[(n,), float32]) -> Tensor[(n,), float32] { add(%x, %y) }, %list)
    }`;
    expect(() => compile(parseModule(text))).toThrow(
      'got fn (Tensor[(n,), float32]) -> Tensor[(n,), float32], expected fn (Tensor[(?,), float32]) ->',
    );
  });

  test('is refused where a size is a number', () => {
    const text = `def @main(%list: List[Tensor[(?,), float32]]) {
      @map(fn (%y: Tensor[(3,), float32]) { neg(%y) }, %list)
    }`;
    expect(() => compile(parseModule(text))).toThrow(
      'got fn (Tensor[(3,), float32]) -> Tensor[(3,), float32], expected fn (Tensor[(?,), float32]) ->',
    );
  });

  test('has a list name no size of its elements, which may differ', () => {
    const text = `def @main(%list: List[Tensor[(?,), float32]]) {
      let %named: List[Tensor[(k,), float32]] = %list;
      match (%named) {
        Cons(%a, Cons(%b, _)) => reduce_sum(add(%a, %b), axes=[0], keepdims=false),
        _ => 0f,
      }
    }`;
    expect(() => compile(parseModule(text))).toThrow(
      'got the dimension k, expected a symbol that a parameter or variable has as a dimension, or ?',
    );
  });

  test('of a list takes no list whose elements may differ', () => {
    const text = `def @main(%list: List[Tensor[(?,), float32]]) { @sum(%list) }
    def @sum(%list: List[Tensor[(k,), float32]]) {
      match (%list) {
        Cons(%a, Cons(%b, _)) => reduce_sum(add(%a, %b), axes=[0], keepdims=false),
        _ => 0f,
      }
    }`;
    expect(() => compile(parseModule(text))).toThrow(
      'argument list: got List[Tensor[(?,), float32]], expected List[Tensor[(',
    );
  });
});

/** Found by random programs. */
const NAMES: readonly (readonly [title: string, text: string, expected: unknown])[] = [
  [
    'a let around a let that names its size',
    `def @main(%x: Tensor[(?,), float32]) -> Tensor[(?,), float32] {
      let %y: Tensor[(?,), float32] = {
        let %z: Tensor[(k,), float32] = %x;
        add(%z, full(shape=[k], value=2))
      };
      relu(%y)
    }`,
    [3, 0],
  ],
  [
    'a let that declares ? for what is known',
    `def @main(%x: Tensor[(?,), float32]) -> Tensor[(?,), float32] {
      let %y: Tensor[(?,), float32] = %x;
      let %z: Tensor[(k,), float32] = %y;
      add(relu(%y), full(shape=[k], value=1))
    }`,
    [2, 1],
  ],
  [
    'a name that means a formula of a name further in',
    `def @main(%x: Tensor[(?,), float32]) -> Tensor[(?,), float32] {
      let %y = concat(%x, neg({
        let %z: Tensor[(k,), float32] = slice(%x, starts=[0], ends=[1]);
        add(%z, full(shape=[k], value=2))
      }), axis=0);
      let %w: Tensor[(m,), float32] = %y;
      add(%w, full(shape=[m], value=1))
    }`,
    [2, -1, -2],
  ],
];

test.each(NAMES)('%s, with optional passes and without', async (_, text, expected) => {
  for (const without of [[], OPTIONAL_PASSES]) {
    const { run, vm } = await loadProgram(text, { without });
    expect(await run('main', f32([2], 1, -2))).toEqual(expected);
    vm.dispose();
  }
});
