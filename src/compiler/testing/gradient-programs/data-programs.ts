import { type GradientProgram, listOf, textProgram } from './gradient-program.ts';

const S = 'Tensor[(), float64]';
const V = 'Tensor[(n,), float64]';

const leaf = (value: readonly number[]) => ({ constructor: 'Leaf', fields: [value] });

/** Programs over lists, trees and other data. */
export const DATA_PROGRAMS: readonly GradientProgram[] = [
  textProgram(
    'a list as an argument, summed by recursion that is no loop',
    `def @total(%l: List[${S}], %w: ${S}) -> ${S} {
      match (%l) {
        Cons(%h, %t) => add(mul(sin(%h), %w), mul(%h, @total(%t, mul(%w, %h)))),
        Nil => %w,
      }
    }
    def @f(%l: List[${S}], %w: ${S}) -> ${S} { @total(%l, %w) }`,
    [listOf([0.5, -1.2, 0.8]), 0.7],
  ),
  textProgram(
    'a tree whose leaves have vectors of their own lengths',
    `type Net { Leaf(Tensor[(?,), float64]), Fork(Net, Net, ${S}) }
    def @fold(%net: Net) -> ${S} {
      match (%net) {
        Leaf(%x) => reduce_sum(mul(%x, exp(%x))),
        Fork(%left, %right, %weight) => tanh(add(mul(%weight, @fold(%left)), @fold(%right))),
      }
    }
    def @f(%net: Net) -> ${S} { @fold(%net) }`,
    [
      {
        constructor: 'Fork',
        fields: [
          { constructor: 'Fork', fields: [leaf([0.2, -0.4]), leaf([0.1]), 0.8] },
          leaf([-0.3, 0.1, 0.2]),
          -0.6,
        ],
      },
    ],
  ),
  textProgram(
    'an interpreter of expressions that are data',
    `type Term { Var, Number(${S}), Plus(Term, Term), Times(Term, Term), Sine(Term) }
    def @run(%term: Term, %x: ${S}) -> ${S} {
      match (%term) {
        Var => %x,
        Number(%c) => %c,
        Plus(%a, %b) => add(@run(%a, %x), @run(%b, %x)),
        Times(Var, Var) => mul(%x, %x),
        Times(%a, %b) => mul(@run(%a, %x), @run(%b, %x)),
        Sine(%a) => sin(@run(%a, %x)),
      }
    }
    def @f(%x: ${S}, %c: ${S}) -> ${S} {
      %square = Times(Var, Var);
      @run(Plus(Sine(Times(Number(%c), %square)), Times(Plus(Var, Number(%x)), %square)), %x)
    }`,
    [0.7, 1.3],
  ),
  textProgram(
    'a rose tree, mapped by a closure and folded by functions that call each other',
    `def @sum(%t: Tree[${S}]) -> ${S} {
      match (%t) { Rose(%v, %children) => mul(%v, add(1f64, @sums(%children))) }
    }
    def @sums(%l: List[Tree[${S}]]) -> ${S} {
      match (%l) { Cons(%h, %t) => add(@sum(%h), @sums(%t)), Nil => 0f64 }
    }
    def @f(%x: ${S}, %y: ${S}) -> ${S} {
      %tree = Rose(%x, Cons(Rose(%y, Nil), Cons(Rose(%x, Cons(Rose(2f64, Nil), Nil)), Nil)));
      @sum(@tree_map(fn (%v: ${S}) { add(mul(%v, %y), sin(%x)) }, %tree))
    }`,
    [0.7, -0.4],
  ),
  textProgram(
    'vectors of different lengths in a list, a softmax of each',
    `def @entropy(%x: Tensor[(k,), float64]) -> ${S} {
      %p = softmax(%x);
      neg(reduce_sum(mul(%p, log(%p))))
    }
    def @f(%l: List[Tensor[(?,), float64]], %w: ${S}) -> ${S} {
      @foldl(fn (%sum: ${S}, %x: Tensor[(?,), float64]) {
        add(mul(%sum, %w), @entropy(mul(%x, %w)))
      }, 0f64, %l)
    }`,
    [listOf([[0.2, -0.4, 1], [0.3], [1.5, 0.5]]), 0.7],
  ),
  textProgram(
    'tuples of data and ints, taken apart by nested patterns',
    `def @step(%p: (Option[${S}], int), %x: ${S}) -> ${S} {
      match (%p) {
        (Some(%s), #0) => mul(%s, %x),
        (Some(%s), #1) => sin(mul(%s, %x)),
        (Some(_), %n) => @step((Some(%x), int_sub(%n, #2)), mul(%x, %x)),
        (None, _) => exp(%x),
      }
    }
    def @f(%x: ${S}, %y: ${S}, %n: int) -> ${S} {
      %some = @step((Some(%y), %n), %x);
      add(%some, add(@step((None, %n), %y), @step((Some(%some), #1), %y)))
    }`,
    [0.8, 0.3, { int: 4 }],
  ),
  textProgram(
    'pairs of two lists, folded from the right',
    `def @f(%a: List[${S}], %b: List[${S}]) -> ${S} {
      @foldr(fn (%p: (${S}, ${S}), %rest: ${S}) {
        add(mul(%p.0, %rest), mul(%p.1, %p.1))
      }, 1f64, @zip(%a, @reverse(%b)))
    }`,
    [listOf([0.5, 0.25, -1]), listOf([1.5, -0.5, 0.75])],
  ),
  textProgram(
    'a list of parameters that layers are built of',
    `def @layers(%l: List[(Tensor[(2, 2), float64], Tensor[(2,), float64])], %x: Tensor[(m, 2), float64])
        -> Tensor[(m, 2), float64] {
      match (%l) {
        Cons((%w, %b), %rest) => @layers(%rest, tanh(add(matmul(%x, %w), %b))),
        Nil => %x,
      }
    }
    def @f(%w: Tensor[(2, 2), float64], %b: Tensor[(2,), float64], %x: Tensor[(m, 2), float64]) -> ${S} {
      %y = @layers(Cons((%w, %b), Cons((transpose(%w, perm=[1, 0]), neg(%b)), Nil)), %x);
      reduce_mean(mul(%y, %y))
    }`,
    [
      [
        [0.5, -0.3],
        [0.2, 0.8],
      ],
      [0.1, -0.2],
      [
        [1, 0.5],
        [-0.7, 0.2],
        [0.4, 0.9],
      ],
    ],
  ),
  textProgram(
    'clauses that take a list apart in several ways, or give it back',
    `def @join(%l: List[${S}], %n: int) -> List[${S}] {
      match (%l) {
        Nil => Nil,
        Cons(%a, Nil) => Cons(sin(%a), Nil),
        Cons(%a, Cons(%b, %rest)) => if (%n) { @join(Cons(mul(%a, %b), %rest), #0) } else { %l },
      }
    }
    def @f(%l: List[${S}], %w: ${S}) -> ${S} {
      @foldl(fn (%sum: ${S}, %e: ${S}) { add(mul(%sum, %w), %e) }, 0f64, @append(@join(%l, #1), %l))
    }`,
    [listOf([0.5, 0.25, -1, 0.75]), 0.6],
  ),
  textProgram(
    'functions that call each other, over vectors that grow',
    `def @even(%x: ${V}, %n: int) -> Tensor[(?,), float64] {
      if (int_lt(%n, #1)) { %x } else { @odd(mul(%x, sin(%x)), int_sub(%n, #1)) }
    }
    def @odd(%x: ${V}, %n: int) -> Tensor[(?,), float64] {
      if (int_lt(%n, #1)) { exp(%x) } else { @even(concat(%x, neg(%x), axis=0), int_sub(%n, #1)) }
    }
    def @f(%x: ${V}, %n: int) -> ${S} {
      let %y: Tensor[(k,), float64] = @even(%x, %n);
      reduce_sum(mul(%y, %y))
    }`,
    [[0.9, -1.2], { int: 3 }],
  ),
];
