import { seededRandom } from '../../../core/random.ts';
import { type ProgramGrammar, ProgramWriter, type Variable } from '../program-writer.ts';
import { type GradientProgram, listOf, textProgram } from './gradient-program.ts';

/** Types of values in random programs. Vectors have any length. */
type Kind = 'vector' | 'scalar' | 'int' | 'list' | 'maybe' | 'pair' | 'function';

const TYPES: Readonly<Record<Kind, string>> = {
  vector: 'Tensor[(?,), float64]',
  scalar: 'Tensor[(), float64]',
  int: 'int',
  list: 'List[Tensor[(?,), float64]]',
  maybe: 'Option[(Tensor[(?,), float64], int)]',
  pair: '(Tensor[(), float64], Tensor[(?,), float64])',
  function: 'fn (Tensor[(?,), float64]) -> Tensor[(?,), float64]',
};

const KINDS: readonly Kind[] = ['vector', 'scalar', 'int', 'list', 'maybe', 'pair', 'function'];

/** Functions that recur, take functions and branch on values, which every program has. Values stay small. */
const GLOBALS = `
def @twice(%x: Tensor[(n,), float64]) -> Tensor[(2 * n,), float64] { concat(%x, sin(%x), axis=0) }
def @pad(%x: Tensor[(?,), float64], %by: int) -> Tensor[(?,), float64] {
  if (%by) { @pad(concat(%x, reshape(tanh(reduce_sum(%x)), shape=[1]), axis=0), int_sub(%by, #1)) } else { %x }
}
def @spread(%x: Tensor[(?,), float64], %n: int) -> List[Tensor[(?,), float64]] {
  if (%n) { Cons(%x, @spread(@pad(cos(%x), #1), int_sub(%n, #1))) } else { Nil }
}
def @total(%l: List[Tensor[(?,), float64]], %w: Tensor[(), float64]) -> Tensor[(), float64] {
  match (%l) {
    Cons(%a, Cons(%b, %rest)) => sin(add(mul(%w, reduce_sum(%a)), @total(Cons(%b, %rest), tanh(%w)))),
    Cons(%a, _) => mul(%w, reduce_sum(%a)),
    Nil => cos(%w),
  }
}
def @even(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
  if (%n) { @odd(sin(%x), int_sub(%n, #1)) } else { %x }
}
def @odd(%x: Tensor[(), float64], %n: int) -> Tensor[(), float64] {
  if (%n) { @even(mul(%x, cos(%x)), int_sub(%n, #1)) } else { tanh(%x) }
}
def @apply(%f: ${TYPES.function}, %x: Tensor[(?,), float64], %n: int) -> Tensor[(?,), float64] {
  if (%n) { @apply(%f, %f(%x), int_sub(%n, #1)) } else { %x }
}
`;

const PARAMS = `%x: Tensor[(n,), float64], %s: ${TYPES.scalar}, %l: ${TYPES.list}, %c: int`;

/** From derivatives of `@g` to a number. They are scaled down, so that differences are exact enough. */
const OF_DERIVATIVES = `
def @f(${PARAMS}) -> ${TYPES.scalar} {
  let %r = gradient(@g)(%x, %s, %l, %c);
  let %of_list = @foldl(fn (%sum: ${TYPES.scalar}, %d: ${TYPES.vector}) {
    add(%sum, reduce_sum(sin(mul(0.125f64, %d))))
  }, 0f64, %r.1.2);
  add(%of_list, add(reduce_sum(sin(mul(0.125f64, %r.1.0))), sin(mul(0.125f64, %r.1.1))))
}
`;

/**
 * A program of about `size` statements, the same for the same seed. One of derivatives computes with those of such a
 * program.
 */
export function randomGradientProgram(
  seed: number,
  { size = 8, ofDerivatives = false } = {},
): GradientProgram {
  const random = seededRandom(seed);
  const body = bodyOf(new ProgramWriter(GRAMMAR, random), 2 + Math.floor(random() * size));
  const text = `${GLOBALS}
def @${ofDerivatives ? 'g' : 'f'}(${PARAMS}) -> ${TYPES.scalar} {
${body}
}${ofDerivatives ? OF_DERIVATIVES : ''}`;
  const number = (): number => Math.round((random() * 2 - 1) * 64) / 64;
  const vector = (): number[] => Array.from({ length: 1 + Math.floor(random() * 2) }, number);
  const list = listOf(Array.from({ length: Math.floor(random() * 3) }, vector));
  return textProgram(`seed ${seed}\n${text}`, text, [vector(), number(), list, { int: 2 }]);
}

/** Statements, and a number made of the values of all kinds. */
function bodyOf(writer: ProgramWriter<Kind>, size: number): string {
  const scope: Variable<Kind>[] = [
    { kind: 'vector', name: '%x' },
    { kind: 'scalar', name: '%s' },
    { kind: 'list', name: '%l' },
    { kind: 'int', name: '%c' },
  ];
  const lines: string[] = [];
  for (let i = 0; i < size; i++) {
    const kind = writer.pick(KINDS);
    const name = writer.fresh();
    lines.push(`  let ${name}: ${TYPES[kind]} = ${writer.expr(kind, scope, 3)};`);
    scope.push({ kind, name });
  }
  const of = (kind: Kind): string => writer.expr(kind, scope, 1);
  const sums = [`reduce_sum(${of('vector')})`, `@total(${of('list')}, ${of('scalar')})`];
  return `${lines.join('\n')}\n  add(${sums.join(', ')})`;
}

const MAKERS: ProgramGrammar<Kind>['makers'] = {
  vector: [
    ({ expr, below }) => `${['sin', 'tanh', 'sigmoid', 'softmax'][below(4)]}(${expr('vector')})`,
    ({ expr }) => `mul(${expr('vector')}, ${expr('scalar')})`,
    ({ expr }) => `concat(${expr('vector')}, neg(${expr('vector')}), axis=0)`,
    ({ expr }) => `${expr('function')}(${expr('vector')})`,
    ({ expr }) => `@twice(${expr('vector')})`,
    ({ expr, below }) => `@pad(${expr('vector')}, #${below(3)})`,
    ({ expr, below }) => `@apply(${expr('function')}, ${expr('vector')}, #${below(3)})`,
    ({ expr }) => `slice(${expr('vector')}, starts=[0], ends=[3])`,
    ({ expr }) => `${expr('pair')}.1`,
    ({ expr, fresh }) => {
      const [sum, item] = [fresh(), fresh()];
      return `@foldl(fn (${sum}, ${item}) { mul(cos(${item}), tanh(reduce_sum(${sum}))) }, ${expr('vector')}, ${expr('list')})`;
    },
    ({ expr, fresh }) => {
      const name = fresh();
      return `{ let ${name}: Tensor[(${name.slice(1)},), float64] = ${expr('vector')}; mul(${name}, sin(${name})) }`;
    },
  ],
  scalar: [
    ({ expr }) => `tanh(reduce_sum(${expr('vector')}))`,
    ({ expr }) => `mul(${expr('scalar')}, ${expr('scalar')})`,
    ({ expr }) => `sin(add(${expr('scalar')}, ${expr('scalar')}))`,
    ({ expr }) => `${expr('pair')}.0`,
    ({ expr }) => `@total(${expr('list')}, ${expr('scalar')})`,
    ({ expr, below }) => `@even(${expr('scalar')}, #${below(4)})`,
  ],
  int: [
    ({ expr }) => `@length(${expr('list')})`,
    ({ expr }) => `int_mod(int_add(${expr('int')}, ${expr('int')}), #3)`,
    ({ expr }) => `int_lt(dim(${expr('vector')}, axis=0), #3)`,
  ],
  list: [
    ({ expr }) => `Cons(${expr('vector')}, ${expr('list')})`,
    ({ expr }) => `@map(${expr('function')}, ${expr('list')})`,
    ({ expr }) => `@map(@twice, ${expr('list')})`,
    ({ expr }) => `@append(${expr('list')}, ${expr('list')})`,
    ({ expr }) => `@reverse(${expr('list')})`,
    ({ expr, below }) => `@spread(${expr('vector')}, #${below(3)})`,
  ],
  maybe: [({ expr }) => `Some((${expr('vector')}, ${expr('int')}))`, () => 'None'],
  pair: [({ expr }) => `(${expr('scalar')}, ${expr('vector')})`],
  function: [
    ({ inside, fresh }) => {
      const name = fresh();
      const body = inside('vector', [{ kind: 'vector', name }]);
      return `fn (${name}: ${TYPES.vector}) -> ${TYPES.vector} { slice(${body}, starts=[0], ends=[4]) }`;
    },
    ({ expr, fresh }) => {
      const name = fresh();
      const size = name.slice(1);
      return `fn (${name}: Tensor[(${size},), float64]) -> ${TYPES.vector} { mul(${name}, ${expr('scalar')}) }`;
    },
  ],
};

const GRAMMAR: ProgramGrammar<Kind> = {
  types: TYPES,
  makers: MAKERS,
  leaf: (kind, writer) => {
    const leaves: Readonly<Record<Kind, string>> = {
      vector: writer.pick(['[0.5f64, -0.25f64]', '[0.75f64]']),
      scalar: `0.${1 + writer.below(9)}f64`,
      int: `#${writer.below(3)}`,
      list: 'Nil',
      maybe: 'None',
      pair: '(0.5f64, [0.25f64])',
      function: `fn (%y: ${TYPES.vector}) -> ${TYPES.vector} { sin(%y) }`,
    };
    return leaves[kind];
  },
  branches: ({ branch, given }, [a, b, c]) => {
    const head: Variable<Kind> = { kind: 'vector', name: a };
    const tail: Variable<Kind> = { kind: 'list', name: b };
    const count: Variable<Kind> = { kind: 'int', name: c };
    return [
      () => `if (${given('int')}) { ${branch()} } else { ${branch()} }`,
      () => `if (less(${given('scalar')}, 0.1f64)) { ${branch()} } else { ${branch()} }`,
      () =>
        `match (${given('list')}) { Cons(${a}, ${b}) => ${branch([head, tail])}, Nil => ${branch()} }`,
      () =>
        `match (${given('maybe')}) { Some((${a}, ${c})) => ${branch([head, count])}, _ => ${branch()} }`,
      () =>
        `match ((${given('list')}, ${given('maybe')})) { (Cons(${a}, Cons(_, ${b})), None) => ${branch([head, tail])}, (_, Some((_, ${c}))) => ${branch([count])}, _ => ${branch()} }`,
    ];
  },
  // A function that a branch gives is known only when the program runs.
  canBranch: (kind) => kind !== 'function',
  oneIn: { variable: 3, branch: 4 },
};
