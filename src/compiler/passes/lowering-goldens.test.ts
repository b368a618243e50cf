import { describe, expect, test } from 'vitest';
import { inferModule } from '../inference/infer-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { verifyModule } from '../verify/verify-module.ts';
import { runNamed, textAfter } from '../testing/text-after.ts';

describe('lower-match', () => {
  const lower = (text: string): string => textAfter(['to-anf', 'lower-match'], text);

  test('nested patterns become a match inside of others; no place is looked at twice', () => {
    const text = `def @main(%list: List[int]) -> int {
      match (%list) {
        Cons(%a, Nil) => %a,
        Cons(%a, Cons(%b, Nil)) => int_add(%a, %b),
        Cons(_, %rest) => @main(%rest),
        _ => #-1,
      }
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%list: List[int]) -> int {
        match (%list) {
          Cons(%a: int, %rest: List[int]) => match (%rest) {
            Nil => %a,
            Cons(%b: int, %field: List[int]) => match (%field) {
              Nil => int_add(%a, %b),
              _ => @main(%rest),
            },
          },
          _ => #-1,
        }
      }
      "
    `);
  });

  test('a clause that several ways lead to becomes a function; tuples are taken apart', () => {
    const text = `def @main(%a: List[int], %b: List[int], %k: int) -> int {
      let %found = match ((%a, %b)) {
        (Cons(%x, _), Cons(%y, _)) => int_add(%x, %y),
        (Nil, Nil) => #0,
        _ => int_mul(%k, #10),
      };
      int_add(%found, #1)
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%a: List[int], %b: List[int], %k: int) -> int {
        let %v0: (List[int], List[int]) = (%a, %b);
        let %clause: fn () -> int = fn () -> int {
          int_mul(%k, #10)
        };
        let %field: List[int] = %v0.0;
        let %found: int = match (%field) {
          Cons(%x: int, _) => {
            let %field_1: List[int] = %v0.1;
            match (%field_1) {
              Cons(%y: int, _) => int_add(%x, %y),
              _ => %clause(),
            }
          },
          Nil => {
            let %field_2: List[int] = %v0.1;
            match (%field_2) {
              Nil => #0,
              _ => %clause(),
            }
          },
        };
        int_add(%found, #1)
      }
      "
    `);
  });

  test('what no clause fits, and the value itself under another name', () => {
    const text = `def @main(%list: List[List[int]]) {
      match? (%list) { Cons(Cons(%head, _), %tail) => (%head, %tail) }
    }
    def @again(%list: List[int]) -> List[int] {
      match (%list) { Cons(_, %tail) => %tail, %whole => Cons(#1, %whole) }
    }`;
    expect(lower(text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%list: List[List[int]]) -> (int, List[List[int]]) {
        match? (%list) {
          Cons(%field: List[int], %tail: List[List[int]]) => match? (%field) {
            Cons(%head: int, _) => (%head, %tail),
          },
        }
      }

      def @again(%list: List[int]) -> List[int] {
        match (%list) {
          Cons(_, %tail: List[int]) => %tail,
          _ => Cons<int>(#1, %list),
        }
      }
      "
    `);
  });

  test('nothing where each clause looks at one constructor', () => {
    const text = `def @main(%list: List[int], %tree: Tree[int]) {
      let %n = match (%list) { Cons(%head, _) => %head, Nil => #0 };
      match? (%tree) { Rose(%value, _) => int_add(%value, %n) }
    }`;
    const module = runNamed(['to-anf'], inferModule(parseModule(text)));
    expect(runNamed(['lower-match'], module)).toBe(module);
  });
});

describe('allocate-adt-tags', () => {
  test('each constructor has its place in its type', () => {
    const text = `type Shade { Dark, Grey(int), Light }
    def @main(%list: List[Shade]) -> List[Shade] { Cons<Shade>(Grey(#3), %list) }`;
    expect(textAfter(['allocate-adt-tags'], text)).toMatchInlineSnapshot(`
      "type Shade { Dark = 0, Grey(int) = 1, Light = 2 }

      type List[A] { Cons(A, List[A]) = 0, Nil = 1 }

      def @main(%list: List[Shade]) -> List[Shade] {
        %0 = Grey(#3);
        Cons<Shade>(%0, %list)
      }
      "
    `);
  });

  test('nothing where constructors have tags, or there are none', () => {
    for (const text of [
      'type Shade { Dark = 4, Light = 0 } def @main() -> Shade { Dark }',
      'def @main(%x: int) -> int { %x }',
    ]) {
      const module = inferModule(parseModule(text));
      expect(runNamed(['allocate-adt-tags'], module)).toBe(module);
    }
  });

  test('one tag for two constructors', () => {
    const text = 'type Shade { Dark = 1, Light = 1 } def @main() -> Shade { Dark }';
    expect(() => verifyModule(parseModule(text))).toThrowErrorMatchingInlineSnapshot(
      `[TypeCheckError: type Shade, constructor Light: got the tag 1 again, expected one of its own.]`,
    );
  });
});

describe('tail-calls', () => {
  const tail = (text: string): string => textAfter(['to-anf', 'tail-calls'], text);

  test('a function that takes its own result apart and together again', () => {
    const text = `def @main(%n: int, %sum: int) -> (int, int) {
      if (%n) {
        let %rest = @main(int_sub(%n, #1), int_add(%sum, %n));
        (%rest.0, %rest.1)
      } else {
        (%n, %sum)
      }
    }`;
    expect(tail(text)).toMatchInlineSnapshot(`
      "def @main(%n: int, %sum: int) -> (int, int) {
        if (%n) {
          let %v0: int = int_sub(%n, #1);
          let %v1: int = int_add(%sum, %n);
          @main(%v0, %v1)
        } else {
          (%n, %sum)
        }
      }
      "
    `);
  });

  test('functions that call each other, in branches, clauses and closures', () => {
    const text = `def @even(%list: List[int]) -> (int, int) {
      match (%list) {
        Cons(_, %tail) => { let %pair = @odd(%tail); let %a = %pair.0; let %b = %pair.1; (%a, %b) },
        Nil => (#1, #0),
      }
    }
    def @odd(%list: List[int]) -> (int, int) {
      let %again = fn () { let %pair = @even(%list); (%pair.0, %pair.1) };
      %again()
    }`;
    expect(tail(text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @even(%list: List[int]) -> (int, int) {
        match (%list) {
          Cons(_, %tail: List[int]) => @odd(%tail),
          Nil => (#1, #0),
        }
      }

      def @odd(%list: List[int]) -> (int, int) {
        let %again: fn () -> (int, int) = fn () -> (int, int) {
          @even(%list)
        };
        %again()
      }
      "
    `);
  });

  test('nothing where something remains to be done', () => {
    const text = `def @main(%n: int) -> (int, int) {
      let %rest = @main(int_sub(%n, #1));
      let %swapped = @main(%rest.0);
      if (%n) { (%rest.1, %rest.0) } else { (%swapped.0, int_add(%swapped.1, #1)) }
    }`;
    const module = runNamed(['to-anf'], inferModule(parseModule(text)));
    expect(runNamed(['tail-calls'], module)).toBe(module);
  });
});

describe('plan-memory', () => {
  const plan = (text: string): string => textAfter(['fuse', 'to-anf', 'plan-memory'], text);

  test('values of one block have storages one after the other, and a view holds its storage', () => {
    const text = `def @main(%x: Tensor[(8, 2), float32]) {
      let %y = reshape(softmax(%x, axis=0), shape=[16]);
      let %z = softmax(softmax(%y, axis=0), axis=0);
      softmax(concat(%z, %y, axis=0), axis=0)
    }`;
    expect(plan(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(8, 2), float32]) -> Tensor[(32,), float32] {
        let %s0: storage = alloc_storage(bytes=[256]);
        let %t0: Tensor[(8, 2), float32] = alloc_tensor(%s0, shape=[8, 2], dtype="float32");
        %0 = fn (%p0: Tensor[(8, 2), float32], primitive="softmax") {
          softmax(%p0, axis=0)
        };
        let %v0: Tensor[(8, 2), float32] = call_into(%0, %x, %t0);
        let %y: Tensor[(16,), float32] = reshape(%v0, shape=[16]);
        let %s1: storage = alloc_storage(bytes=[256]);
        let %t1: Tensor[(16,), float32] = alloc_tensor(%s1, shape=[16], dtype="float32");
        %1 = fn (%p0_1: Tensor[(16,), float32], primitive="softmax") {
          softmax(%p0_1, axis=0)
        };
        let %v1: Tensor[(16,), float32] = call_into(%1, %y, %t1);
        let %s2: storage = alloc_storage(bytes=[256]);
        let %t2: Tensor[(16,), float32] = alloc_tensor(%s2, shape=[16], dtype="float32");
        %2 = fn (%p0_2: Tensor[(16,), float32], primitive="softmax") {
          softmax(%p0_2, axis=0)
        };
        let %z: Tensor[(16,), float32] = call_into(%2, %v1, %t2);
        let %t3: Tensor[(32,), float32] = alloc_tensor(%s1, shape=[32], dtype="float32");
        %3 = fn (%p0_3: Tensor[(16,), float32], %p1: Tensor[(16,), float32], primitive="concat") {
          concat(%p0_3, %p1, axis=0)
        };
        let %v2: Tensor[(32,), float32] = call_into(%3, %z, %y, %t3);
        let %s3: storage = alloc_storage(bytes=[256]);
        let %t4: Tensor[(32,), float32] = alloc_tensor(%s3, shape=[32], dtype="float32");
        %4 = fn (%p0_4: Tensor[(32,), float32], primitive="softmax") {
          softmax(%p0_4, axis=0)
        };
        call_into(%4, %v2, %t4)
      }
      "
    `);
  });

  test('another dtype, and a result of its own', () => {
    const text = `def @main(%x: Tensor[(64,), float32]) {
      let %a = cast(softmax(%x, axis=0), to="int32");
      let %b = cast(concat(%a, %a, axis=0), to="float32");
      softmax(softmax(%b, axis=0), axis=0)
    }`;
    expect(plan(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(64,), float32]) -> Tensor[(128,), float32] {
        let %s0: storage = alloc_storage(bytes=[512]);
        let %t0: Tensor[(64,), int32] = alloc_tensor(%s0, shape=[64], dtype="int32");
        %0 = fn (%p0: Tensor[(64,), float32], primitive="softmax_cast") {
          %1 = softmax(%p0, axis=0);
          cast(%1, to="int32")
        };
        let %a: Tensor[(64,), int32] = call_into(%0, %x, %t0);
        let %s1: storage = alloc_storage(bytes=[512]);
        let %t1: Tensor[(128,), float32] = alloc_tensor(%s1, shape=[128], dtype="float32");
        %2 = fn (%p0_1: Tensor[(64,), int32], primitive="concat_cast") {
          %3 = concat(%p0_1, %p0_1, axis=0);
          cast(%3, to="float32")
        };
        let %b: Tensor[(128,), float32] = call_into(%2, %a, %t1);
        let %t2: Tensor[(128,), float32] = alloc_tensor(%s0, shape=[128], dtype="float32");
        %4 = fn (%p0_2: Tensor[(128,), float32], primitive="softmax") {
          softmax(%p0_2, axis=0)
        };
        let %v0: Tensor[(128,), float32] = call_into(%4, %b, %t2);
        let %s2: storage = alloc_storage(bytes=[512]);
        let %t3: Tensor[(128,), float32] = alloc_tensor(%s2, shape=[128], dtype="float32");
        %5 = fn (%p0_3: Tensor[(128,), float32], primitive="softmax") {
          softmax(%p0_3, axis=0)
        };
        call_into(%5, %v0, %t3)
      }
      "
    `);
  });

  test('no storage is shared across a join, with a closure, or with what a call may give back', () => {
    const text = `def @main(%c: int, %x: Tensor[(2,), float32]) {
      let %a = softmax(%x, axis=0);
      let %b = if (%c) { let %d = softmax(%a, axis=0); softmax(%d, axis=0) } else { %a };
      let %e = softmax(%b, axis=0);
      let %f = fn () { %e };
      let %g = softmax(%b, axis=0);
      (%f, softmax(@same(%g), axis=0))
    }
    def @same(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { %x }`;
    expect(plan(text)).toMatchInlineSnapshot(`
      "def @main(%c: int, %x: Tensor[(2,), float32]) -> (fn () -> Tensor[(2,), float32], Tensor[(2,), float32]) {
        let %s0: storage = alloc_storage(bytes=[256]);
        let %t0: Tensor[(2,), float32] = alloc_tensor(%s0, shape=[2], dtype="float32");
        %0 = fn (%p0: Tensor[(2,), float32], primitive="softmax") {
          softmax(%p0, axis=0)
        };
        let %a: Tensor[(2,), float32] = call_into(%0, %x, %t0);
        let %b: Tensor[(2,), float32] = if (%c) {
          let %s4: storage = alloc_storage(bytes=[256]);
          let %t4: Tensor[(2,), float32] = alloc_tensor(%s4, shape=[2], dtype="float32");
          %1 = fn (%p0_1: Tensor[(2,), float32], primitive="softmax") {
            softmax(%p0_1, axis=0)
          };
          let %d: Tensor[(2,), float32] = call_into(%1, %a, %t4);
          let %s5: storage = alloc_storage(bytes=[256]);
          let %t5: Tensor[(2,), float32] = alloc_tensor(%s5, shape=[2], dtype="float32");
          %2 = fn (%p0_2: Tensor[(2,), float32], primitive="softmax") {
            softmax(%p0_2, axis=0)
          };
          call_into(%2, %d, %t5)
        } else {
          %a
        };
        let %s1: storage = alloc_storage(bytes=[256]);
        let %t1: Tensor[(2,), float32] = alloc_tensor(%s1, shape=[2], dtype="float32");
        %3 = fn (%p0_3: Tensor[(2,), float32], primitive="softmax") {
          softmax(%p0_3, axis=0)
        };
        let %e: Tensor[(2,), float32] = call_into(%3, %b, %t1);
        let %f: fn () -> Tensor[(2,), float32] = fn () -> Tensor[(2,), float32] {
          %e
        };
        let %s2: storage = alloc_storage(bytes=[256]);
        let %t2: Tensor[(2,), float32] = alloc_tensor(%s2, shape=[2], dtype="float32");
        %4 = fn (%p0_4: Tensor[(2,), float32], primitive="softmax") {
          softmax(%p0_4, axis=0)
        };
        let %g: Tensor[(2,), float32] = call_into(%4, %b, %t2);
        let %v0: Tensor[(2,), float32] = @same(%g);
        let %s3: storage = alloc_storage(bytes=[256]);
        let %t3: Tensor[(2,), float32] = alloc_tensor(%s3, shape=[2], dtype="float32");
        %5 = fn (%p0_5: Tensor[(2,), float32], primitive="softmax") {
          softmax(%p0_5, axis=0)
        };
        let %v1: Tensor[(2,), float32] = call_into(%5, %v0, %t3);
        (%f, %v1)
      }

      def @same(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
        %x
      }
      "
    `);
  });

  test('sizes that only the run knows: equal formulas, or bounds', () => {
    const text = `def @main(%x: Tensor[(n,), float32]) {
      softmax(softmax(softmax(softmax(%x, axis=0), axis=0), axis=0), axis=0)
    }
    def @bounded(%x: Tensor[(n,), float32], bounds={n: (1, 100)}) {
      softmax(softmax(softmax(softmax(%x, axis=0), axis=0), axis=0), axis=0)
    }`;
    expect(plan(text)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
        let %s0: storage = alloc_storage(bytes=[(4 * n)]);
        let %t0: Tensor[(n,), float32] = alloc_tensor(%s0, shape=["n"], dtype="float32");
        %0 = fn (%p0: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0, axis=0)
        };
        let %v0: Tensor[(n,), float32] = call_into(%0, %x, %t0);
        let %s1: storage = alloc_storage(bytes=[(4 * n)]);
        let %t1: Tensor[(n,), float32] = alloc_tensor(%s1, shape=["n"], dtype="float32");
        %1 = fn (%p0_1: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0_1, axis=0)
        };
        let %v1: Tensor[(n,), float32] = call_into(%1, %v0, %t1);
        let %t2: Tensor[(n,), float32] = alloc_tensor(%s0, shape=["n"], dtype="float32");
        %2 = fn (%p0_2: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0_2, axis=0)
        };
        let %v2: Tensor[(n,), float32] = call_into(%2, %v1, %t2);
        let %s2: storage = alloc_storage(bytes=[(4 * n)]);
        let %t3: Tensor[(n,), float32] = alloc_tensor(%s2, shape=["n"], dtype="float32");
        %3 = fn (%p0_3: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0_3, axis=0)
        };
        call_into(%3, %v2, %t3)
      }

      def @bounded(%x: Tensor[(n,), float32], bounds={n: (1, 100)}) -> Tensor[(n,), float32] {
        let %s0: storage = alloc_storage(bytes=[512]);
        let %t0: Tensor[(n,), float32] = alloc_tensor(%s0, shape=["n"], dtype="float32");
        %0 = fn (%p0: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0, axis=0)
        };
        let %v0: Tensor[(n,), float32] = call_into(%0, %x, %t0);
        let %s1: storage = alloc_storage(bytes=[(4 * n)]);
        let %t1: Tensor[(n,), float32] = alloc_tensor(%s1, shape=["n"], dtype="float32");
        %1 = fn (%p0_1: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0_1, axis=0)
        };
        let %v1: Tensor[(n,), float32] = call_into(%1, %v0, %t1);
        let %t2: Tensor[(n,), float32] = alloc_tensor(%s0, shape=["n"], dtype="float32");
        %2 = fn (%p0_2: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0_2, axis=0)
        };
        let %v2: Tensor[(n,), float32] = call_into(%2, %v1, %t2);
        let %s2: storage = alloc_storage(bytes=[(4 * n)]);
        let %t3: Tensor[(n,), float32] = alloc_tensor(%s2, shape=["n"], dtype="float32");
        %3 = fn (%p0_3: Tensor[(n,), float32], primitive="softmax") {
          softmax(%p0_3, axis=0)
        };
        call_into(%3, %v2, %t3)
      }
      "
    `);
  });

  test('nothing without kernels', () => {
    const text = `def @main(%c: int, %x: Tensor[(4,), float32]) {
      let %y = reshape(%x, shape=[2, 2]);
      if (%c) { (%y, dim(%x, axis=0)) } else { (%y, #0) }
    }`;
    const module = inferModule(parseModule(text));
    expect(runNamed(['plan-memory'], module)).toBe(module);
  });
});

describe('liveness', () => {
  const kill = (text: string): string =>
    textAfter(['fuse', 'to-anf', 'lower-match', 'plan-memory', 'liveness'], text);

  test('a value is dropped after its last use on each way', () => {
    const text = `def @main(%c: int, %x: Tensor[(2,), float32], %y: Tensor[(2,), float32]) {
      let %pair = if (%c) { (%x, %y) } else { (add(%x, %y), %x) };
      neg(%pair.0)
    }`;
    expect(kill(text)).toMatchInlineSnapshot(`
      "def @main(%c: int, %x: Tensor[(2,), float32], %y: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
        let %pair: (Tensor[(2,), float32], Tensor[(2,), float32]) = if (%c) {
          let %result: (Tensor[(2,), float32], Tensor[(2,), float32]) = (%x, %y);
          let %_: () = kill(%x);
          let %__1: () = kill(%y);
          %result
        } else {
          let %t1: Tensor[(2,), float32] = reuse(%y);
          %0 = fn (%p0: Tensor[(2,), float32], %p1: Tensor[(2,), float32], primitive="add", in_place=1) {
            add(%p0, %p1)
          };
          let %v0: Tensor[(2,), float32] = call_into(%0, %x, %y, %t1);
          let %__2: () = kill(%y);
          let %result_1: (Tensor[(2,), float32], Tensor[(2,), float32]) = (%v0, %x);
          let %__3: () = kill(%x);
          let %__4: () = kill(%v0);
          %result_1
        };
        let %v1: Tensor[(2,), float32] = %pair.0;
        let %__5: () = kill(%pair);
        let %t0: Tensor[(2,), float32] = reuse(%v1);
        %1 = fn (%p0_1: Tensor[(2,), float32], primitive="neg", in_place=0) {
          neg(%p0_1)
        };
        call_into(%1, %v1, %t0)
      }
      "
    `);
  });

  test('closures, clauses, and values that nothing reads', () => {
    const text = `def @main(%list: List[Tensor[(2,), float32]], %x: Tensor[(2,), float32], %unused: List[int]) {
      let %f = fn (%y: Tensor[(2,), float32]) { match (%list) { Cons(%head, _) => add(%head, %y), Nil => %y } };
      let %g = @nothing(%x);
      (%f, #1)
    }
    def @nothing(%x: Tensor[(2,), float32]) -> int { #0 }`;
    expect(kill(text)).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @main(%list: List[Tensor[(2,), float32]], %x: Tensor[(2,), float32], %unused: List[int]) -> (fn (Tensor[(2,), float32]) -> Tensor[(2,), float32], int) {
        let %_: () = kill(%unused);
        let %f: fn (Tensor[(2,), float32]) -> Tensor[(2,), float32] = fn (%y: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
          match (%list) {
            Cons(%head: Tensor[(2,), float32], _) => {
              let %__1: () = kill(%list);
              let %t0: Tensor[(2,), float32] = reuse(%head);
              %0 = fn (%p0: Tensor[(2,), float32], %p1: Tensor[(2,), float32], primitive="add", in_place=0) {
                add(%p0, %p1)
              };
              call_into(%0, %head, %y, %t0)
            },
            Nil => %y,
          }
        };
        let %__2: () = kill(%list);
        let %g: int = @nothing(%x);
        let %__3: () = kill(%x);
        (%f, #1)
      }

      def @nothing(%x: Tensor[(2,), float32]) -> int {
        #0
      }
      "
    `);
  });

  test('nothing where all goes with the registers of the function', () => {
    const text = `def @main(%c: int, %x: Tensor[(4,), float32], %y: Tensor[(4,), float32]) {
      let %k = int_add(%c, #1);
      if (%k) { @other(%x, %y) } else { @other(%y, %x) }
    }
    def @other(%x: Tensor[(4,), float32], %y: Tensor[(4,), float32]) -> Tensor[(4,), float32] { %x }`;
    const module = runNamed(['to-anf'], inferModule(parseModule(text)));
    expect(runNamed(['liveness'], module)).toBe(module);
  });
});
