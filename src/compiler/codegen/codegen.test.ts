import { describe, expect, test } from 'vitest';
import { AdtValue } from '../../runtime/values/value.ts';
import { compile } from '../compile.ts';
import { call, callFunction, func, ifElse, int, moduleOf, variableOf } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { INT_TYPE } from '../ir/type.ts';
import { f32, loadProgram } from '../testing/load-program.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { createHostDevice } from '../../device/host/host-device.ts';

/** The instructions of the functions of a program. */
function listing(text: string, sourceMap = false): string {
  const whole = compile(parseModule(text), { sourceMap }).toText();
  const [, body = ''] = /^weft [^\n]*\n\n(.*?)\n\nreferences/s.exec(whole) ?? [];
  return body;
}

test('instructions come from lines of the source, kernels from all that they compute', () => {
  const text = `def @main(%x: Tensor[(2,), float32], %c: int) {
    let %y = add(
      exp(%x), 1f);
    let %z = if (%c) { @twice(%y) } else { %y };
    relu(%z)
  }
  def @twice(%x: Tensor[(2,), float32]) { match? (Cons(%x, Nil)) { Cons(%y, _) => add(%y, %y) } }`;
  expect(listing(text, true)).toMatchInlineSnapshot(`
    "func main(x: Tensor[(2,), float32], c: int) -> (result: Tensor[(2,), float32]) {
       0: %2 = call vm.builtin.alloc_shape_heap(0) from "ir":1:5
       1: call vm.builtin.check_tensor_info(%0, 1, c[0], c[1]) from "ir":1:11
       2: call vm.builtin.match_shape(%0, %2, 1, 0, 2, c[1])
       3: %2 = call vm.builtin.kill()
       4: %3 = call vm.builtin.reuse(%0) from "ir":2:14
       5: call exp_add(%0, c[2], %3) from "ir":3:7, "ir":2:14
       6: %0 = call vm.builtin.kill()
       7: if %1 else 24 from "ir":4:14
       8: %4 = call vm.builtin.make_adt(1) from "ir":7:60
       9: %5 = call vm.builtin.make_adt(0, %3, %4) from "ir":7:51
      10: %3 = call vm.builtin.kill()
      11: %4 = call vm.builtin.kill()
      12: %6 = call vm.builtin.get_tag(%5) from "ir":7:43
      13: %7 = call vm.builtin.int_eq(%6, 0)
      14: if %7 else 21
      15: %8 = call vm.builtin.get_field(%5, 0)
      16: %5 = call vm.builtin.kill()
      17: %9 = call vm.builtin.reuse(%8) from "ir":7:83
      18: call add(%8, %9)
      19: %8 = call vm.builtin.kill()
      20: goto 23
      21: call vm.builtin.fatal(c[3]) from "ir":7:43
      22: ret %void
      23: goto 26
      24: %9 = call vm.builtin.move(%3)
      25: %3 = call vm.builtin.kill()
      26: %10 = call vm.builtin.reuse(%9) from "ir":5:5
      27: call relu(%9, %10)
      28: ret %10
    }

    func twice(x: Tensor[(2,), float32]) -> (result: Tensor[(2,), float32]) {
       0: %1 = call vm.builtin.alloc_shape_heap(0) from "ir":7:7
       1: call vm.builtin.check_tensor_info(%0, 1, c[0], c[1]) from "ir":7:14
       2: call vm.builtin.match_shape(%0, %1, 1, 0, 2, c[1])
       3: %1 = call vm.builtin.kill()
       4: %2 = call vm.builtin.make_adt(1) from "ir":7:60
       5: %3 = call vm.builtin.make_adt(0, %0, %2) from "ir":7:51
       6: %0 = call vm.builtin.kill()
       7: %2 = call vm.builtin.kill()
       8: %4 = call vm.builtin.get_tag(%3) from "ir":7:43
       9: %5 = call vm.builtin.int_eq(%4, 0)
      10: if %5 else 16
      11: %6 = call vm.builtin.get_field(%3, 0)
      12: %3 = call vm.builtin.kill()
      13: %7 = call vm.builtin.reuse(%6) from "ir":7:83
      14: call add(%6, %7)
      15: ret %7
      16: call vm.builtin.fatal(c[3]) from "ir":7:43
      17: ret %void
    }"
  `);
});

describe('branches', () => {
  test('results go to one register; each value is dropped after its last use on each way', () => {
    const text = `def @main(%c: int, %x: Tensor[(2,), float32], %y: Tensor[(2,), float32]) {
      let %pair = if (%c) { (%x, %y) } else { (add(%x, %y), %x) };
      neg(%pair.0)
    }`;
    expect(listing(text)).toMatchInlineSnapshot(`
      "func main(c: int, x: Tensor[(2,), float32], y: Tensor[(2,), float32]) -> (result: Tensor[(2,), float32]) {
         0: %3 = call vm.builtin.alloc_shape_heap(0)
         1: call vm.builtin.check_tensor_info(%1, 1, c[0], c[1])
         2: call vm.builtin.match_shape(%1, %3, 1, 0, 2, c[1])
         3: call vm.builtin.check_tensor_info(%2, 1, c[0], c[2])
         4: call vm.builtin.match_shape(%2, %3, 1, 0, 2, c[2])
         5: %3 = call vm.builtin.kill()
         6: if %0 else 11
         7: %4 = call vm.builtin.make_tuple(%1, %2)
         8: %1 = call vm.builtin.kill()
         9: %2 = call vm.builtin.kill()
        10: goto 17
        11: %5 = call vm.builtin.reuse(%2)
        12: call add(%1, %2, %5)
        13: %2 = call vm.builtin.kill()
        14: %4 = call vm.builtin.make_tuple(%5, %1)
        15: %1 = call vm.builtin.kill()
        16: %5 = call vm.builtin.kill()
        17: %6 = call vm.builtin.tuple_get(%4, 0)
        18: %4 = call vm.builtin.kill()
        19: %7 = call vm.builtin.reuse(%6)
        20: call neg(%6, %7)
        21: ret %7
      }"
    `);
  });

  test('10,000 ifs inside each other', async () => {
    const n = variableOf('n', INT_TYPE);
    let body: Expr = int(-1);
    for (let i = 9_999; i >= 0; i--) body = ifElse(call('int_eq', [n, int(i)]), int(i), body);
    const vm = await VirtualMachine.create(compile(moduleOf({ main: func([n], body) })), {
      devices: [createHostDevice()],
    });
    expect(await vm.get('main')(0)).toBe(0);
    expect(await vm.get('main')(9_999)).toBe(9_999);
    expect(await vm.get('main')(10_000)).toBe(-1);
  });
});

describe('closures', () => {
  test('captured values follow the arguments; a plain function needs no closure', () => {
    const text = `def @main(%x: Tensor[(), float32], %n: int) {
      (@apply(fn (%y: Tensor[(), float32]) { add(%x, %y) }, %x), @apply(fn (%k: int) { %k }, %n))
    }
    def @apply<A>(%f: fn (A) -> A, %a: A) -> A { %f(%a) }`;
    expect(listing(text)).toMatchInlineSnapshot(`
      "func main(x: Tensor[(), float32], n: int) -> (result0: Tensor[(), float32], result1: int) {
         0: %2 = call vm.builtin.alloc_shape_heap(0)
         1: call vm.builtin.check_tensor_info(%0, 0, c[0], c[1])
         2: call vm.builtin.match_shape(%0, %2, 0, c[1])
         3: %2 = call vm.builtin.kill()
         4: %3 = call vm.builtin.make_closure(@main.fn, %0)
         5: %4 = call apply(%3, %0)
         6: %0 = call vm.builtin.kill()
         7: %3 = call vm.builtin.kill()
         8: %5 = call apply(@main.fn_1, %1)
         9: %6 = call vm.builtin.make_tuple(%4, %5)
        10: ret %6
      }

      func main.fn(y, x) {
        0: %2 = call vm.builtin.reuse(%1)
        1: call add(%1, %0, %2)
        2: ret %2
      }

      func main.fn_1(k) {
        0: ret %0
      }

      func apply(f: any, a: any) -> (result: any) {
        0: %2 = call vm.builtin.invoke_closure(%0, %1)
        1: ret %2
      }"
    `);
  });
});

test('2,000 closures inside each other', () => {
  const n = variableOf('n', INT_TYPE);
  let body: Expr = n;
  for (let i = 0; i < 2000; i++) {
    const closure = func([variableOf(`p${i}`, INT_TYPE)], body);
    body = call('int_add', [n, callFunction(closure, [n])]);
  }
  const module = moduleOf({ main: func([n], body) });
  const names = compile(module, { without: ['inline'] }).functions.map(({ name }) => name);
  expect(names.slice(0, 3)).toEqual(['main', 'main.fn', 'main.fn_1']);
  expect(names).toHaveLength(2001);
});

describe('match', () => {
  const empty = (): AdtValue => new AdtValue(1, []);
  const cons = (head: number, tail: AdtValue): AdtValue => new AdtValue(0, [head, tail]);

  const NESTED = `def @main(%list: List[int]) -> int {
    match (%list) {
      Cons(%a, Nil) => %a,
      Cons(%a, Cons(%b, Nil)) => int_add(%a, %b),
      Cons(_, %rest) => @main(%rest),
      _ => #-1,
    }
  }`;

  test('nested patterns: no place is tested twice', async () => {
    expect(listing(NESTED)).toMatchInlineSnapshot(`
      "func main(list: any) -> (result: int) {
         0: %1 = call vm.builtin.get_tag(%0)
         1: %2 = call vm.builtin.int_eq(%1, 0)
         2: if %2 else 19
         3: %3 = call vm.builtin.get_field(%0, 0)
         4: %4 = call vm.builtin.get_field(%0, 1)
         5: %0 = call vm.builtin.kill()
         6: %5 = call vm.builtin.get_tag(%4)
         7: %6 = call vm.builtin.int_eq(%5, 1)
         8: if %6 else 10
         9: ret %3
        10: %7 = call vm.builtin.get_field(%4, 0)
        11: %8 = call vm.builtin.get_field(%4, 1)
        12: %9 = call vm.builtin.get_tag(%8)
        13: %10 = call vm.builtin.int_eq(%9, 1)
        14: if %10 else 17
        15: %11 = call vm.builtin.int_add(%3, %7)
        16: ret %11
        17: %12 = call main(%4)
        18: ret %12
        19: ret -1
      }"
    `);
    const { run } = await loadProgram(NESTED);
    expect(await run('main', empty())).toBe(-1);
    expect(await run('main', cons(4, empty()))).toBe(4);
    expect(await run('main', cons(4, cons(5, empty())))).toBe(9);
    expect(await run('main', cons(3, cons(4, cons(5, empty()))))).toBe(9);
  });

  test('a clause that several ways lead to is emitted once', async () => {
    const text = `def @main(%a: List[int], %b: List[int]) -> int {
      let %found = match ((%a, %b)) {
        (Cons(%x, _), Cons(%y, _)) => int_add(%x, %y),
        (Nil, Nil) => #0,
        _ => int_mul(#10, #10),
      };
      int_add(%found, #1)
    }`;
    expect(listing(text).match(/int_mul/g)).toHaveLength(1);
    const { run } = await loadProgram(text);
    const one = (): AdtValue => cons(20, empty());
    expect(await run('main', one(), one())).toBe(41);
    expect(await run('main', empty(), empty())).toBe(1);
    expect(await run('main', one(), empty())).toBe(101);
    expect(await run('main', empty(), one())).toBe(101);
  });

  test('the value that is matched, under a second name', async () => {
    const { run } = await loadProgram(`def @main(%list: List[int]) -> List[int] {
      match (%list) { Cons(_, %tail) => %tail, %whole => Cons(#1, %whole) }
    }`);
    expect(await run('main', empty())).toEqual([0, 1, [1]]);
    expect(await run('main', cons(2, empty()))).toEqual([1]);
  });

  test('a value that no clause fits', async () => {
    const { run } = await loadProgram(`def @main(%list: List[int]) -> int {
      match? (%list) { Cons(%head, _) => %head }
    }`);
    await expect(run('main', empty())).rejects.toThrow('ir:2:7: no clause fits the value');
  });
});

describe('symbolic shapes', () => {
  test('dimensions are stored, computed and checked on the shape heap', () => {
    const text = `def @main(%x: Tensor[(m, n), float32], %y: Tensor[(m * 2,), float32]) {
      (pad(%x, pads=[0, 0, 1, 1]), relu(%y))
    }`;
    expect(listing(text)).toMatchInlineSnapshot(`
      "func main(x: Tensor[(m, n), float32], y: Tensor[((m * 2),), float32]) -> (result0: Tensor[((m + 1), (n + 1)), float32], result1: Tensor[((m * 2),), float32]) {
         0: %2 = call vm.builtin.alloc_shape_heap(8)
         1: call vm.builtin.check_tensor_info(%0, 2, c[0], c[1])
         2: call vm.builtin.match_shape(%0, %2, 2, 1, 0, 1, 1, c[1])
         3: call vm.builtin.check_tensor_info(%1, 1, c[0], c[2])
         4: call vm.builtin.match_shape(%1, %2, 1, 2, 0, c[2])
         5: call vm.builtin.compute_shape(%2, 0)
         6: call vm.builtin.match_shape(%1, %2, 1, 3, 3, c[2])
         7: call vm.builtin.compute_shape(%2, 1)
         8: %3 = call vm.builtin.load_shape(%2, 7)
         9: %4 = call vm.builtin.alloc_storage(%3, 0)
        10: %5 = call vm.builtin.make_shape(%2, 2, 1, 5, 1, 6)
        11: %2 = call vm.builtin.kill()
        12: %6 = call vm.builtin.alloc_tensor(%4, 0, %5, c[0])
        13: %4 = call vm.builtin.kill()
        14: call pad(%0, %6)
        15: %0 = call vm.builtin.kill()
        16: %7 = call vm.builtin.reuse(%1)
        17: call relu(%1, %7)
        18: %1 = call vm.builtin.kill()
        19: %8 = call vm.builtin.make_tuple(%6, %7)
        20: ret %8
      }"
    `);
  });

  test('a dimension of a parameter that is computed from others', async () => {
    const { run } =
      await loadProgram(`def @main(%x: Tensor[(m,), float32], %y: Tensor[(m * 2,), float32]) {
      @both(%x, %y)
    }
    def @both(%x: Tensor[(m,), float32], %y: Tensor[(n,), float32]) -> Tensor[(m,), float32] {
      @half(%x, %y)
    }
    def @half(%x: Tensor[(m,), float32], %y: Tensor[(m * 2,), float32]) -> Tensor[(m,), float32] {
      neg(%x)
    }`);
    expect(await run('main', f32([1], 1), f32([2], 1, 2))).toEqual([-1]);
    await expect(run('both', f32([1], 1), f32([3], 1, 2, 3))).rejects.toThrow(/expected 2/);
  });
});
