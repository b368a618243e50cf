import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { numberElements } from '../../../ops/elements.ts';
import { type GradientProgram, listOf, textProgram } from './gradient-program.ts';

const S = 'Tensor[(), float64]';
const V = 'Tensor[(n,), float64]';

/** Squares the number; an adjoint is given beside it. */
const square = (x: HostTensor): HostTensor =>
  HostTensor.from(
    x.dtype,
    x.shape,
    [...numberElements(x)].map((value) => value ** 2),
  );

/** Programs with closures, functions of functions, branches on values and numbers of the host. */
export const FUNCTION_PROGRAMS: readonly GradientProgram[] = [
  textProgram(
    'a closure over two parameters, mapped and folded',
    `def @f(%x: ${S}, %y: ${S}, %l: List[${S}]) -> ${S} {
      let %scale = exp(%x);
      let %shift = fn (%e: ${S}) { add(mul(%e, %scale), %y) };
      @foldl(fn (%sum: ${S}, %e: ${S}) { add(mul(%sum, %x), mul(%e, %e)) }, %y, @map(%shift, %l))
    }`,
    [0.3, -0.6, listOf([0.5, 1.5])],
  ),
  textProgram(
    'a function that is applied as often as an argument says',
    `def @iterate(%g: fn (${V}) -> ${V}, %x: ${V}, %n: int) -> ${V} {
      if (%n) { @iterate(%g, %g(%x), int_sub(%n, #1)) } else { %x }
    }
    def @f(%x: ${V}, %w: ${S}, %n: int) -> ${S} {
      reduce_sum(@iterate(fn (%v: ${V}) { sin(add(mul(%v, %w), %x)) }, %x, %n))
    }`,
    [[0.3, -0.8], 1.2, { int: 3 }],
  ),
  textProgram(
    'functions in a tuple, and functions that call them',
    `def @twice(%g: fn (${S}) -> ${S}, %x: ${S}) -> ${S} { %g(%g(%x)) }
    def @f(%x: ${S}, %y: ${S}) -> ${S} {
      let %pair = (fn (%a: ${S}) { mul(%a, sin(%y)) }, fn (%a: ${S}) { add(mul(%a, %a), %x) });
      let %both = fn (%a: ${S}) { %pair.0(%pair.1(%a)) };
      @twice(%both, %x)
    }`,
    [0.6, 0.9],
  ),
  textProgram(
    'a polymorphic function of two types',
    `def @apply<A, B>(%g: fn (A) -> B, %x: A) -> B { %g(%x) }
    def @f(%x: ${V}, %s: ${S}) -> ${S} {
      let %pair = @apply(fn (%v: ${V}) { (reduce_sum(mul(%v, %s)), %v) }, %x);
      @apply(fn (%p: (${S}, ${V})) { mul(%p.0, reduce_sum(exp(%p.1))) }, %pair)
    }`,
    [[0.4, -0.9, 0.1], 0.8],
  ),
  textProgram(
    "Newton's method until the step is small",
    `def @root(%a: ${S}, %x: ${S}) -> ${S} {
      let %next = mul(0.5f64, add(%x, div(%a, %x)));
      if (less(abs(sub(%next, %x)), 0.000001f64)) { %next } else { @root(%a, %next) }
    }
    def @f(%a: ${S}) -> ${S} { mul(@root(%a, 1f64), %a) }`,
    [2.7],
  ),
  textProgram(
    'branches on values, one inside the other',
    `def @f(%x: ${S}, %y: ${S}) -> ${S} {
      let %z = mul(%x, %y);
      if (less(%z, 0f64)) {
        if (less(%x, 0f64)) { mul(%x, %z) } else { sin(mul(%x, sub(%z, %y))) }
      } else { %y }
    }`,
    [0.8, -0.5],
  ),
  textProgram(
    'a sum over rows, chosen by numbers of the host',
    `def @rows(%x: Tensor[(m, 3), float64], %i: int, %sum: Tensor[(3,), float64]) -> Tensor[(3,), float64] {
      if (int_lt(%i, dim(%x, axis=0))) {
        let %at = reshape(tensor_of(%i, dtype="int64"), shape=[]);
        let %row = gather(%x, %at, axis=0);
        @rows(%x, int_add(%i, #1), add(mul(%sum, %row), tanh(%row)))
      } else { %sum }
    }
    def @f(%x: Tensor[(m, 3), float64]) -> ${S} { reduce_sum(@rows(%x, #0, [0f64, 0f64, 1f64])) }`,
    [
      [
        [0.5, -1, 0.2],
        [0.4, 0.7, -0.3],
      ],
    ],
  ),
  textProgram(
    'a float of the host as a factor, decayed step by step',
    `def @descend(%x: ${V}, %rate: float, %n: int) -> ${V} {
      if (%n) {
        let %r = reshape(tensor_of(%rate, dtype="float64"), shape=[]);
        let %next = sub(%x, mul(%r, mul(%x, mul(%x, %x))));
        @descend(%next, float_mul(%rate, #0.9), int_sub(%n, #1))
      } else { %x }
    }
    def @f(%x: ${V}, %rate: float, %n: int) -> ${S} { reduce_sum(sin(@descend(%x, %rate, %n))) }`,
    [[0.8, -0.5], { float: 0.3 }, { int: 4 }],
  ),
  textProgram(
    'an adjoint for a function of JavaScript',
    `extern def @square(%x: ${V}) -> ${V}
    def @called(%x: ${V}) -> ${V} { @square(%x) }
    def @adjoint(%x: ${V}, %y: ${V}, %d: ${V}) -> (${V},) { (mul(%d, add(%x, %x)),) }
    def @f(%x: ${V}) -> ${S} {
      reduce_sum(mul(custom_gradient(@called, @adjoint)(sin(%x)), %x))
    }`,
    [[0.5, -1.1]],
    {
      withoutForward: 'adjoints that the program brings along',
      functions: { square },
    },
  ),
  textProgram(
    'a shift by a maximum through which no derivative goes',
    `def @f(%x: ${V}) -> ${S} {
      %top = stop_gradient(reduce_max(%x));
      add(log(reduce_sum(exp(sub(%x, %top)))), %top)
    }`,
    [[0.5, -1.1, 2.3]],
  ),
];
