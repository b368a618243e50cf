import { type Argument, type GradientProgram, textProgram } from './gradient-program.ts';

const S = 'Tensor[(), float64]';
const V = 'Tensor[(n,), float64]';
const ANY = 'Tensor[(?,), float64]';

/** Programs that ask for derivatives themselves. */
export const HIGHER_ORDER_PROGRAMS: readonly GradientProgram[] = [
  textProgram(
    'a second derivative of a branch',
    `def @g(%x: ${S}) -> ${S} {
      if (less(%x, 0f64)) { exp(%x) } else { mul(sin(%x), mul(%x, %x)) }
    }
    def @f(%x: ${S}) -> ${S} { gradient(@g)(%x).1.0 }`,
    [0.8],
  ),
  textProgram(
    'a third derivative',
    `def @g(%x: ${S}) -> ${S} { mul(sin(%x), exp(mul(%x, %x))) }
    def @first(%x: ${S}) -> ${S} { gradient(@g)(%x).1.0 }
    def @second(%x: ${S}) -> ${S} { gradient(@first)(%x).1.0 }
    def @f(%x: ${S}) -> ${S} { @second(%x) }`,
    [0.4],
  ),
  textProgram(
    'a product of a Hessian with a vector, forward over reverse',
    `def @g(%x: ${V}) -> ${S} { reduce_sum(mul(sin(%x), mul(reduce_sum(%x), %x))) }
    def @slope(%x: ${V}) -> ${V} { gradient(@g)(%x).1.0 }
    def @f(%x: ${V}, %v: ${V}) -> ${S} { reduce_sum(mul(%v, jvp(@slope)(%x, %v).1)) }`,
    [
      [0.3, -0.6],
      [1, 0.5],
    ],
  ),
  textProgram(
    'reverse over forward, of a loop',
    `def @power(%x: ${S}, %n: int) -> ${S} {
      if (int_lt(%n, #1)) { 1f64 } else { mul(sin(%x), @power(%x, int_sub(%n, #1))) }
    }
    def @f(%x: ${S}, %n: int) -> ${S} { jvp(@power)(%x, %n, %x, ()).1 }`,
    [0.9, { int: 3 }],
  ),
  textProgram(
    'a step of descent inside of a loss',
    `def @inner(%w: Tensor[(2,), float64], %x: Tensor[(m, 2), float64]) -> ${S} {
      %y = tanh(matmul(%x, %w));
      reduce_mean(mul(%y, %y))
    }
    def @f(%w: Tensor[(2,), float64], %x: Tensor[(m, 2), float64], %rate: ${S}) -> ${S} {
      %next = sub(%w, mul(%rate, gradient(@inner)(%w, %x).1.0));
      @inner(%next, neg(%x))
    }`,
    [
      [0.5, -0.3],
      [
        [1, 0.5],
        [-0.7, 0.2],
        [0.4, 0.9],
      ],
      0.2,
    ],
  ),
  textProgram(
    'second derivatives of a list that is folded',
    `def @total(%l: List[${S}], %x: ${S}) -> ${S} {
      match (%l) { Cons(%h, %t) => mul(sin(mul(%h, %x)), @total(%t, %x)), Nil => %x }
    }
    def @g(%x: ${S}) -> ${S} { @total(Cons(%x, Cons(2f64, Cons(mul(%x, %x), Nil))), %x) }
    def @f(%x: ${S}) -> ${S} { gradient(@g)(%x).1.0 }`,
    [0.7],
  ),
  textProgram(
    'the cotangent of a tuple',
    `def @g(%x: ${V}, %s: ${S}) { (mul(%x, %s), (exp(%s), reduce_sum(mul(%x, %x)))) }
    def @f(%x: ${V}, %s: ${S}) -> ${S} {
      %r = vjp(@g)(%x, %s, (sin(%x), (%s, 2f64)));
      add(reduce_sum(mul(%r.1.0, %r.0.0)), %r.1.1)
    }`,
    [[0.4, -0.7], 0.6],
  ),
  textProgram(
    'derivatives of a closure, with respect to what it captures',
    `def @f(%x: ${S}, %k: ${S}) -> ${S} {
      %d = gradient(fn (%v: ${S}) { mul(%v, sin(mul(%k, %v))) })(%x);
      mul(%d.0, %d.1.0)
    }`,
    [0.6, 1.4],
  ),
  textProgram(
    'descent in a tree, along its gradient',
    `type Tree { Leaf(${S}), Node(Tree, ${S}, Tree) }
    def @value(%t: Tree) -> ${S} {
      match (%t) { Leaf(%v) => mul(%v, %v), Node(%l, %v, %r) => add(mul(%v, @value(%l)), @value(%r)) }
    }
    def @less(%t: Tree, %d: Tree, %h: ${S}) -> Tree {
      match ((%t, %d)) {
        (Leaf(%v), Leaf(%a)) => Leaf(sub(%v, mul(%h, %a))),
        (Node(%l, %v, %r), Node(%a, %b, %c)) =>
          Node(@less(%l, %a, %h), sub(%v, mul(%h, %b)), @less(%r, %c, %h)),
        _ => %t,
      }
    }
    def @descend(%t: Tree, %h: ${S}, %k: int) -> Tree {
      if (%k) { @descend(@less(%t, gradient(@value)(%t).1.0, %h), %h, int_sub(%k, #1)) } else { %t }
    }
    def @f(%t: Tree, %h: ${S}) -> ${S} { @value(@descend(%t, %h, #2)) }`,
    [node(node(leaf(0.3), 0.5, leaf(-0.4)), 1.1, leaf(0.7)), 0.1],
  ),
  textProgram(
    'second derivatives of a tensor that grows in recursion',
    `def @grow(%v: ${V}, %w: ${S}, %k: int) -> ${ANY} {
      if (%k) { @grow(concat(%v, mul(%v, %w), axis=0), %w, int_sub(%k, #1)) } else { %v }
    }
    def @g(%v: ${V}, %w: ${S}, %k: int) -> ${S} { %r = @grow(%v, %w, %k); reduce_sum(mul(%r, sin(%r))) }
    def @f(%v: ${V}, %w: ${S}, %k: int) -> ${S} {
      let %r = gradient(@g)(%v, %w, %k);
      add(%r.1.1, reduce_sum(mul(%r.1.0, %r.1.0)))
    }`,
    [[0.6, 0.3], 0.8, { int: 2 }],
  ),
  textProgram(
    'second derivatives of closures over vectors of any size, in a list',
    `def @compose(%l: List[fn (${ANY}) -> ${ANY}], %x: ${ANY}) -> ${ANY} {
      match (%l) { Cons(%g, %r) => @compose(%r, %g(%x)), Nil => %x }
    }
    def @g(%x: ${V}, %y: ${V}) -> ${S} {
      let %scaled = fn (%a: ${ANY}) -> ${ANY} { mul(%a, %x) };
      let %bent = fn (%a: ${ANY}) -> ${ANY} { sin(add(%a, %y)) };
      reduce_sum(@compose(Cons(%scaled, Cons(%bent, Nil)), %y))
    }
    def @f(%x: ${V}, %y: ${V}) -> ${S} { let %r = gradient(@g)(%x, %y); reduce_sum(mul(%r.1.0, %r.1.1)) }`,
    [
      [0.6, 0.4],
      [0.2, -0.3],
    ],
  ),
  textProgram(
    'second derivatives of a loop whose state is a tuple with a vector',
    `def @loop(%p: (${V}, ${S}), %w: Tensor[(n, n), float64], %k: int) -> (${V}, ${S}) {
      if (%k) {
        @loop((tanh(matmul(%w, %p.0)), add(%p.1, reduce_sum(mul(%p.0, %p.0)))), %w, int_sub(%k, #1))
      } else { %p }
    }
    def @g(%x: ${V}, %w: Tensor[(n, n), float64], %k: int) -> ${S} {
      let %r = @loop((%x, 0f64), %w, %k);
      add(%r.1, reduce_sum(mul(%r.0, %x)))
    }
    def @f(%x: ${V}, %w: Tensor[(n, n), float64], %k: int) -> ${S} {
      let %r = gradient(@g)(%x, %w, %k);
      add(reduce_sum(mul(%r.1.0, sin(%r.1.0))), reduce_sum(mul(%r.1.1, %r.1.1)))
    }`,
    [
      [0.3, 0.8],
      [
        [0.2, -0.5],
        [0.7, 0.1],
      ],
      { int: 2 },
    ],
  ),
  textProgram(
    'second derivatives of a recurrence that collects the rows of its states',
    `def @scan(%h: Tensor[(2,), float64], %x: Tensor[(t, 2), float64], %i: int, %ys: Tensor[(?, 2), float64])
        -> Tensor[(?, 2), float64] {
      if (int_lt(%i, dim(%x, axis=0))) {
        %row = gather(%x, reshape(tensor_of(%i, dtype="int64"), shape=[]), axis=0);
        let %next = tanh(mul(%h, %row));
        @scan(%next, %x, int_add(%i, #1), concat(%ys, reshape(%next, shape=[1, 2]), axis=0))
      } else { %ys }
    }
    def @g(%h: Tensor[(2,), float64], %x: Tensor[(t, 2), float64]) -> ${S} {
      %ys = @scan(%h, %x, #0, full(shape=[0, 2], value=0, dtype="float64"));
      reduce_sum(mul(%ys, mul(%ys, %ys)))
    }
    def @f(%h: Tensor[(2,), float64], %x: Tensor[(t, 2), float64]) -> ${S} {
      let %r = gradient(@g)(%h, %x);
      add(reduce_sum(mul(%r.1.0, %h)), reduce_sum(sin(%r.1.1)))
    }`,
    [
      [0.9, -1.2],
      [
        [0.8, 1.5],
        [1.1, -0.7],
      ],
    ],
  ),
  textProgram(
    'tangents of a vector whose size elements decide, the result of a function',
    `def @steps(%a: ${S}, %c: ${S}) -> ${ANY} { range(%a, 2f64, %c) }
    def @f(%a: ${S}, %c: ${S}) -> ${S} {
      let %r = jvp(@steps)(%a, %c, %c, %a);
      reduce_sum(mul(%r.0, sin(%r.1)))
    }`,
    [0.1, 0.3],
  ),
];

function leaf(value: number): Argument {
  return { constructor: 'Leaf', fields: [value] };
}

function node(left: Argument, value: number, right: Argument): Argument {
  return { constructor: 'Node', fields: [left, value, right] };
}
