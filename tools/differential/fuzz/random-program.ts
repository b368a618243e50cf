import {
  type ProgramGrammar,
  ProgramWriter,
  type Variable,
} from '../../../src/compiler/testing/program-writer.ts';
import { seededRandom } from '../../../src/core/random.ts';

/** Types of values in random programs. Vectors have any length, and elements that float32 has exactly. */
type Kind = 'vector' | 'scalar' | 'int' | 'list' | 'maybe' | 'function';

const TYPES: Readonly<Record<Kind, string>> = {
  vector: 'Tensor[(?,), float32]',
  scalar: 'Tensor[(), float32]',
  int: 'int',
  list: 'List[Tensor[(?,), float32]]',
  maybe: 'Option[Tensor[(?,), float32]]',
  function: 'fn (Tensor[(?,), float32]) -> Tensor[(?,), float32]',
};

const KINDS: readonly Kind[] = ['vector', 'scalar', 'int', 'list', 'maybe', 'function'];

/** Functions over sizes, with loops, and with data, that every program has. */
const GLOBALS = [
  'def @double(%x: Tensor[(n,), float32]) -> Tensor[(2 * n,), float32] { concat(%x, neg(%x), axis=0) }',
  'def @pad(%x: Tensor[(n,), float32], %by: int) -> Tensor[(?,), float32] {',
  '  if (%by) { @pad(concat(%x, [1f], axis=0), int_sub(%by, #1)) } else { %x }',
  '}',
  'def @spread(%x: Tensor[(?,), float32], %n: int) -> List[Tensor[(?,), float32]] {',
  '  if (%n) { Cons(%x, @spread(@pad(%x, #1), int_sub(%n, #1))) } else { Nil }',
  '}',
  'def @even(%n: int) -> int { if (%n) { @odd(int_sub(%n, #1)) } else { #1 } }',
  'def @odd(%n: int) -> int { if (%n) { @even(int_sub(%n, #1)) } else { #0 } }',
];

export interface RandomProgram {
  readonly text: string;
  /** Elements of the argument of `main`, a vector, and its second one. */
  readonly vector: readonly number[];
  readonly int: number;
}

/** A program of about `size` statements, the same for the same seed. */
export function randomProgram(seed: number, size = 14): RandomProgram {
  const random = seededRandom(seed);
  const lines = mainOf(new ProgramWriter(GRAMMAR, random), 1 + Math.floor(random() * size));
  const vector = Array.from(
    { length: Math.floor(random() * 4) },
    () => Math.floor(random() * 9) - 4,
  );
  return { text: [...GLOBALS, ...lines, ''].join('\n'), vector, int: Math.floor(random() * 4) };
}

/** Every statement is a line of its own, so that lines can be left out. */
function mainOf(writer: ProgramWriter<Kind>, size: number): readonly string[] {
  const scope: Variable<Kind>[] = [
    { kind: 'vector', name: '%x' },
    { kind: 'int', name: '%c' },
  ];
  const lines = ['def @main(%x: Tensor[(?,), float32], %c: int)'];
  const kinds: readonly Kind[] = ['vector', 'scalar', 'int', 'list'];
  lines.push(`    -> (${kinds.map((kind) => TYPES[kind]).join(', ')}) {`);
  for (let i = 0; i < size; i++) lines.push(statement(writer, scope));
  lines.push(`  (${kinds.map((kind) => writer.expr(kind, scope, 1)).join(', ')})`, '}');
  return lines;
}

function statement(writer: ProgramWriter<Kind>, scope: Variable<Kind>[]): string {
  const kind = writer.pick(KINDS);
  const name = writer.fresh();
  const value = writer.expr(kind, scope, 3);
  scope.push({ kind, name });
  // Sometimes inference finds the type.
  const isInferred = kind !== 'list' && kind !== 'maybe' && writer.below(3) === 0;
  return `  let ${name}${isInferred ? '' : `: ${TYPES[kind]}`} = ${value};`;
}

const SHORT = (vector: string): string => `slice(${vector}, starts=[0], ends=[6])`;
const SMALL = 'min=-999, max=999';

const MAKERS: ProgramGrammar<Kind>['makers'] = {
  vector: [
    ({ expr }) => `relu(${expr('vector')})`,
    ({ expr }) => `clip(add(${expr('vector')}, ${expr('scalar')}), ${SMALL})`,
    ({ expr }) => SHORT(`concat(${expr('vector')}, neg(${expr('vector')}), axis=0)`),
    ({ expr }) => SHORT(`${expr('function')}(${expr('vector')})`),
    ({ expr }) => SHORT(`@double(${expr('vector')})`),
    ({ expr, below }) => SHORT(`@pad(${expr('vector')}, #${below(4)})`),
    ({ expr }) => `(${expr('vector')}, ${expr('int')}).0`,
    ({ expr, fresh }) =>
      SHORT(
        `@foldl(fn (${fresh()}, %b) { ${SHORT('concat(%b, relu(%b), axis=0)')} }, ${expr('vector')}, ${expr('list')})`,
      ),
    ({ expr, fresh }) => {
      const name = fresh();
      const size = name.slice(1);
      return `{ let ${name}: Tensor[(${size},), float32] = ${expr('vector')}; add(${name}, full(shape=[${size}], value=2)) }`;
    },
    ({ expr, fresh }) => {
      const name = fresh();
      const size = name.slice(1);
      return `{ let ${name}: Tensor[(${size},), float32] = ${expr('vector')}; fn (%y: ${TYPES.scalar}) -> ${TYPES.vector} { full(shape=[${size} + 1], value=3) }(${expr('scalar')}) }`;
    },
  ],
  scalar: [
    ({ expr }) => `clip(reduce_sum(${expr('vector')}, axes=[0], keepdims=false), ${SMALL})`,
    ({ expr }) => `clip(add(${expr('scalar')}, neg(${expr('scalar')})), ${SMALL})`,
  ],
  int: [
    ({ expr }) => `dim(${expr('vector')}, axis=0)`,
    ({ expr }) => `@length(${expr('list')})`,
    ({ expr }) => `@even(int_mod(${expr('int')}, #5))`,
    ({ expr }) => `int_mod(int_add(${expr('int')}, ${expr('int')}), #7)`,
    ({ expr }) => `int_lt(${expr('int')}, ${expr('int')})`,
  ],
  list: [
    ({ expr }) => `Cons(${expr('vector')}, ${expr('list')})`,
    ({ expr }) => `@map(${expr('function')}, ${expr('list')})`,
    ({ expr }) => `@map(@double, ${expr('list')})`,
    ({ expr }) => `@append(${expr('list')}, ${expr('list')})`,
    ({ expr }) => `@reverse(${expr('list')})`,
    ({ expr, below }) => `@spread(${expr('vector')}, #${below(3)})`,
  ],
  maybe: [({ expr }) => `Some(${expr('vector')})`, () => 'None'],
  function: [
    ({ inside, fresh }) => {
      const name = fresh();
      const body = inside('vector', [{ kind: 'vector', name }]);
      return `fn (${name}: ${TYPES.vector}) -> ${TYPES.vector} { ${SHORT(body)} }`;
    },
    ({ fresh }) => {
      const name = fresh();
      const size = name.slice(1);
      return `fn (${name}: Tensor[(${size},), float32]) -> ${TYPES.vector} { add(${name}, full(shape=[${size}], value=1)) }`;
    },
  ],
};

const GRAMMAR: ProgramGrammar<Kind> = {
  types: TYPES,
  makers: MAKERS,
  leaf: (kind, writer) => {
    const number = writer.below(5) - 2;
    const leaves: Readonly<Record<Kind, string>> = {
      vector: writer.pick(['[1f, -2f, 3f]', '[5f]', 'full(shape=[0], value=1)']),
      scalar: `${number}f`,
      int: `#${Math.abs(number)}`,
      list: 'Nil',
      maybe: 'None',
      function: `fn (%y: ${TYPES.vector}) -> ${TYPES.vector} { relu(%y) }`,
    };
    return leaves[kind];
  },
  branches: ({ branch, given }, [a, b]) => {
    const head: Variable<Kind> = { kind: 'vector', name: a };
    const tail: Variable<Kind> = { kind: 'list', name: b };
    return [
      () => `if (${given('int')}) { ${branch()} } else { ${branch()} }`,
      () =>
        `match (${given('list')}) { Cons(${a}, ${b}) => ${branch([head, tail])}, Nil => ${branch()} }`,
      () => `match (${given('maybe')}) { Some(${a}) => ${branch([head])}, _ => ${branch()} }`,
      () =>
        `match ((${given('list')}, ${given('maybe')})) { (Cons(${a}, Cons(_, ${b})), None) => ${branch([head, tail])}, (_, Some(${a}x)) => ${branch()}, _ => ${branch()} }`,
    ];
  },
  canBranch: () => true,
  oneIn: { variable: 4, branch: 5 },
};
