import { type GradientProgram, textProgram } from './gradient-program.ts';

const S = 'Tensor[(), float64]';
const V = 'Tensor[(n,), float64]';
const ANY = 'Tensor[(?,), float64]';

/** Programs with functions that are known only when they run. */
export const RUN_TIME_FUNCTION_PROGRAMS: readonly GradientProgram[] = [
  textProgram(
    'a closure out of a branch, called twice',
    `def @f(%x: ${V}, %y: ${S}, %c: int) -> ${S} {
      let %g = if (%c) { fn (%a: ${V}) { mul(%a, %x) } } else { fn (%a: ${V}) { sin(mul(%a, %y)) } };
      reduce_sum(add(%g(%x), %g(mul(%x, %y))))
    }`,
    [[0.6, -0.2], 0.4, { int: 0 }],
  ),
  textProgram(
    'a closure that captures floats and gets none',
    `def @f(%x: ${S}, %c: int) -> ${S} {
      let %g = if (%c) { fn (%k: int) { mul(%x, %x) } } else { fn (%k: int) { exp(%x) } };
      mul(%g(#1), %x)
    }`,
    [0.6, { int: 1 }],
  ),
  textProgram(
    'layers as data, some of which are functions',
    `type Layer { Dense(Tensor[(2, 2), float64]), Act(fn (Tensor[(2,), float64]) -> Tensor[(2,), float64]) }
    def @bend(%x: Tensor[(2,), float64]) -> Tensor[(2,), float64] { tanh(%x) }
    def @run(%l: List[Layer], %x: Tensor[(2,), float64]) -> Tensor[(2,), float64] {
      match (%l) {
        Cons(Dense(%w), %r) => @run(%r, matmul(%w, %x)),
        Cons(Act(%g), %r) => @run(%r, %g(%x)),
        Nil => %x,
      }
    }
    def @f(%w: Tensor[(2, 2), float64], %x: Tensor[(2,), float64], %s: ${S}) -> ${S} {
      let %last = Act(fn (%v: Tensor[(2,), float64]) -> Tensor[(2,), float64] { mul(%v, %s) });
      reduce_sum(@run(Cons(Dense(%w), Cons(Act(@bend), Cons(Dense(mul(%w, %s)), Cons(%last, Nil)))), %x))
    }`,
    [
      [
        [0.6, 0.3],
        [0.1, -0.5],
      ],
      [0.4, 0.2],
      1.3,
    ],
  ),
  textProgram(
    'functions of vectors of any size in a list, mapped over by a closure',
    `def @sum(%l: List[${ANY}]) -> ${S} {
      match (%l) { Cons(%h, %t) => add(reduce_sum(mul(%h, %h)), @sum(%t)), Nil => 0f64 }
    }
    def @f(%x: ${V}, %y: ${S}) -> ${S} {
      let %joined = fn (%a: ${ANY}) -> ${ANY} { concat(%a, %x, axis=0) };
      let %scaled = fn (%a: ${ANY}) -> ${ANY} { mul(%a, %y) };
      let %functions: List[fn (${ANY}) -> ${ANY}] = Cons(%joined, Cons(%scaled, Nil));
      @sum(@map(fn (%g: fn (${ANY}) -> ${ANY}) { %g(sin(%x)) }, %functions))
    }`,
    [[0.6, 0.3], 0.4],
  ),
  textProgram(
    'continuations, one inside the other',
    `def @go(%n: int, %x: ${S}, %k: fn (${S}) -> ${S}) -> ${S} {
      if (%n) { @go(int_sub(%n, #1), sin(%x), fn (%v: ${S}) { %k(mul(%v, %x)) }) } else { %k(%x) }
    }
    def @f(%x: ${S}, %y: ${S}, %n: int) -> ${S} { @go(%n, %x, fn (%v: ${S}) { add(%v, %y) }) }`,
    [0.6, 0.4, { int: 5 }],
  ),
  textProgram(
    "Church's numerals",
    `def @church(%n: int) -> fn (fn (${S}) -> ${S}) -> fn (${S}) -> ${S} {
      if (%n) {
        let %before = @church(int_sub(%n, #1));
        fn (%g: fn (${S}) -> ${S}) { let %h = %before(%g); fn (%x: ${S}) { %g(%h(%x)) } }
      } else { fn (%g: fn (${S}) -> ${S}) { fn (%x: ${S}) { %x } } }
    }
    def @f(%x: ${S}, %y: ${S}) -> ${S} {
      let %three = @church(#3);
      let %h = %three(fn (%v: ${S}) { mul(%y, sin(%v)) });
      %h(%x)
    }`,
    [0.6, 1.3],
  ),
  textProgram(
    'an endless stream, of which so many are read',
    `type Stream { More(${S}, fn () -> Stream) }
    def @from(%x: ${S}, %y: ${S}) -> Stream { More(%x, fn () { @from(mul(%x, %y), %y) }) }
    def @take(%s: Stream, %n: int) -> ${S} {
      match (%s) {
        More(%h, %t) => if (%n) { add(sin(%h), @take(%t(), int_sub(%n, #1))) } else { 0f64 },
      }
    }
    def @f(%x: ${S}, %y: ${S}) -> ${S} { @take(@from(%x, %y), #4) }`,
    [0.6, 0.9],
  ),
  textProgram(
    'a polymorphic function that gets a closure out of a branch',
    `def @iterate<A>(%g: fn (A) -> A, %x: A, %n: int) -> A {
      if (%n) { @iterate(%g, %g(%x), int_sub(%n, #1)) } else { %x }
    }
    def @f(%x: ${S}, %y: ${S}) -> ${S} {
      let %g = if (less(%x, %y)) { fn (%a: ${S}) { mul(%a, %x) } } else { fn (%a: ${S}) { sin(add(%a, %y)) } };
      @iterate(%g, %x, #3)
    }`,
    [0.6, 0.4],
  ),
  textProgram(
    'a descent along the gradient of a parameter',
    `def @descend(%g: fn (${S}) -> ${S}, %x: ${S}, %n: int) -> ${S} {
      if (%n) { @descend(%g, sub(%x, mul(0.1f64, gradient(%g)(%x).1.0)), int_sub(%n, #1)) } else { %x }
    }
    def @f(%a: ${S}, %x: ${S}) -> ${S} { @descend(fn (%v: ${S}) { sin(mul(%v, %a)) }, %x, #3) }`,
    [0.6, 0.4],
  ),
  textProgram(
    'gradients as values in a list, and functions as parameters of what is differentiated',
    `def @cube(%x: ${S}) -> ${S} { mul(%x, mul(%x, %x)) }
    def @slopes(%l: List[fn (${S}) -> (${S}, (${S},))], %x: ${S}) -> ${S} {
      match (%l) { Cons(%g, %r) => add(%g(%x).1.0, @slopes(%r, %x)), Nil => 0f64 }
    }
    def @loss(%g: fn (${S}) -> ${S}, %x: ${S}) -> ${S} { %g(mul(%x, %x)) }
    def @slope(%g: fn (${S}) -> ${S}, %x: ${S}) -> ${S} { gradient(@loss)(%g, %x).1.1 }
    def @f(%x: ${S}, %y: ${S}) -> ${S} {
      let %sine = fn (%v: ${S}) { mul(%v, sin(%y)) };
      mul(@slopes(Cons(gradient(@cube), Cons(gradient(%sine), Nil)), %x), @slope(%sine, %x))
    }`,
    [0.6, 0.3],
  ),
  textProgram(
    'second derivatives of functions in a list',
    `def @compose(%l: List[fn (${S}) -> ${S}], %x: ${S}) -> ${S} {
      match (%l) { Cons(%g, %r) => @compose(%r, %g(%x)), Nil => %x }
    }
    def @g(%x: ${S}, %y: ${S}) -> ${S} {
      @compose(Cons(fn (%a: ${S}) { mul(%a, %x) }, Cons(fn (%a: ${S}) { sin(add(%a, %y)) }, Nil)), %y)
    }
    def @f(%x: ${S}, %y: ${S}) -> ${S} { let %r = gradient(@g)(%x, %y); mul(%r.1.0, %r.1.1) }`,
    [0.6, 0.4],
  ),
  textProgram(
    'second derivatives of a recurrent network',
    `def @loop(%x: ${V}, %w: Tensor[(n, n), float64], %k: int) -> ${V} {
      if (%k) { @loop(tanh(matmul(%w, %x)), %w, int_sub(%k, #1)) } else { %x }
    }
    def @g(%x: ${V}, %w: Tensor[(n, n), float64], %k: int) -> ${S} { reduce_sum(mul(@loop(%x, %w, %k), %x)) }
    def @f(%x: ${V}, %w: Tensor[(n, n), float64], %k: int) -> ${S} {
      let %r = gradient(@g)(%x, %w, %k);
      reduce_sum(mul(%r.1.0, sin(%x)))
    }`,
    [
      [0.6, -0.2],
      [
        [0.1, 0.2],
        [-0.3, 0.5],
      ],
      { int: 3 },
    ],
  ),
  textProgram(
    'second derivatives of mutual recursion, over lists of vectors of other sizes',
    `def @even(%l: List[${ANY}], %w: ${S}) -> ${S} {
      match (%l) { Cons(%h, %t) => sin(add(mul(%w, reduce_sum(mul(%h, %h))), @odd(%t, %w))), Nil => %w }
    }
    def @odd(%l: List[${ANY}], %w: ${S}) -> ${S} {
      match (%l) { Cons(%h, %t) => mul(reduce_sum(%h), @even(%t, mul(%w, %w))), Nil => exp(%w) }
    }
    def @f(%l: List[${ANY}], %w: ${S}) -> ${S} { gradient(@even)(%l, %w).1.1 }`,
    [
      {
        constructor: 'Cons',
        fields: [
          [0.1, 0.4],
          { constructor: 'Cons', fields: [[0.7], { constructor: 'Nil', fields: [] }] },
        ],
      },
      0.5,
    ],
  ),
  textProgram(
    'a pair that is a function, of functions over a number and a vector',
    `def @pair<A, B>(%a: A, %b: B) -> fn (fn (A, B) -> A) -> A { fn (%k: fn (A, B) -> A) { %k(%a, %b) } }
    def @f(%x: ${S}, %v: ${V}) -> ${S} {
      let %p = @pair(%x, %v);
      let %q = %p(fn (%a: ${S}, %b: ${V}) { mul(%a, reduce_sum(sin(%b))) });
      add(%q, %p(fn (%a: ${S}, %b: ${V}) { add(%a, reduce_max(%b)) }))
    }`,
    [0.4, [0.7, 0.2]],
  ),
  textProgram(
    'data types with functions of their parameters, one inside the other',
    `type Box[A] { Box(A, fn (A) -> A), Empty }
    type Chain[A] { Link(Box[A], fn () -> Chain[A]), End }
    def @open<A>(%b: Box[A], %d: A) -> A { match (%b) { Box(%v, %g) => %g(%g(%v)), Empty => %d } }
    def @chain(%x: ${S}, %y: ${S}) -> Chain[${S}] {
      Link(Box(%x, fn (%a: ${S}) { mul(sin(%a), %y) }), fn () { @chain(mul(%x, %y), %y) })
    }
    def @take(%c: Chain[${S}], %n: int) -> ${S} {
      match (%c) {
        Link(%b, %rest) =>
          if (%n) { add(@open(%b, 0f64), @take(%rest(), int_sub(%n, #1))) } else { @open(Empty, 0f64) },
        End => 0f64,
      }
    }
    def @f(%x: ${S}, %v: ${V}) -> ${S} {
      let %w = @open(Box(%v, fn (%a: ${V}) { mul(%a, add(%v, %x)) }), %v);
      add(reduce_sum(%w), @take(@chain(%x, reduce_max(%v)), #3))
    }`,
    [0.6, [0.3, 0.8]],
  ),
];
