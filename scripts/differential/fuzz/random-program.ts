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
  const writer = new ProgramWriter(random);
  const lines = writer.main(1 + Math.floor(random() * size));
  const vector = Array.from(
    { length: Math.floor(random() * 4) },
    () => Math.floor(random() * 9) - 4,
  );
  return { text: [...GLOBALS, ...lines, ''].join('\n'), vector, int: Math.floor(random() * 4) };
}

interface Variable {
  readonly kind: Kind;
  readonly name: string;
}

class ProgramWriter {
  readonly #random: () => number;
  #serial = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Every statement is a line of its own, so that lines can be left out. */
  main(size: number): readonly string[] {
    const scope: Variable[] = [
      { kind: 'vector', name: '%x' },
      { kind: 'int', name: '%c' },
    ];
    const lines = ['def @main(%x: Tensor[(?,), float32], %c: int)'];
    const kinds: readonly Kind[] = ['vector', 'scalar', 'int', 'list'];
    lines.push(`    -> (${kinds.map((kind) => TYPES[kind]).join(', ')}) {`);
    for (let i = 0; i < size; i++) lines.push(this.#statement(scope));
    lines.push(`  (${kinds.map((kind) => this.#expr(kind, scope, 1)).join(', ')})`, '}');
    return lines;
  }

  #statement(scope: Variable[]): string {
    const kind = this.#pick(KINDS);
    const name = `%v${this.#serial++}`;
    const value = this.#expr(kind, scope, 3);
    scope.push({ kind, name });
    // Sometimes inference finds the type.
    const isInferred = kind !== 'list' && kind !== 'maybe' && this.#below(3) === 0;
    return `  let ${name}${isInferred ? '' : `: ${TYPES[kind]}`} = ${value};`;
  }

  /** An expression of a kind, of at most so many levels. */
  #expr(kind: Kind, scope: readonly Variable[], depth: number): string {
    const known = scope.filter((variable) => variable.kind === kind);
    if (known.length > 0 && (depth <= 0 || this.#below(4) === 0)) return this.#pick(known).name;
    if (depth <= 0) return this.#leaf(kind);
    if (this.#below(5) === 0) return this.#control(kind, scope, depth);
    const makers = MAKERS[kind];
    const inner = (of: Kind): string => this.#expr(of, scope, depth - 1);
    return this.#pick(makers)({
      expr: inner,
      below: (limit) => this.#below(limit),
      fresh: () => `v${this.#serial++}`,
      inside: (of, variables) => this.#expr(of, [...scope, ...variables], depth - 1),
    });
  }

  #leaf(kind: Kind): string {
    const number = this.#below(5) - 2;
    const leaves: Readonly<Record<Kind, string>> = {
      vector: this.#pick(['[1f, -2f, 3f]', '[5f]', 'full(shape=[0], value=1)']),
      scalar: `${number}f`,
      int: `#${Math.abs(number)}`,
      list: 'Nil',
      maybe: 'None',
      function: `fn (%y: ${TYPES.vector}) -> ${TYPES.vector} { relu(%y) }`,
    };
    return leaves[kind];
  }

  /** Branches and clauses, with a declared type: they may differ in sizes. */
  #control(kind: Kind, scope: readonly Variable[], depth: number): string {
    const branch = (variables: readonly Variable[] = []): string =>
      this.#expr(kind, [...scope, ...variables], depth - 1);
    const [r, a, b] = [this.#serial++, this.#serial++, this.#serial++];
    const head: Variable = { kind: 'vector', name: `%v${a}` };
    const tail: Variable = { kind: 'list', name: `%v${b}` };
    const made = this.#pick([
      () => `if (${this.#expr('int', scope, 1)}) { ${branch()} } else { ${branch()} }`,
      () =>
        `match (${this.#expr('list', scope, 1)}) { Cons(${head.name}, ${tail.name}) => ${branch([head, tail])}, Nil => ${branch()} }`,
      () =>
        `match (${this.#expr('maybe', scope, 1)}) { Some(${head.name}) => ${branch([head])}, _ => ${branch()} }`,
      () =>
        `match ((${this.#expr('list', scope, 1)}, ${this.#expr('maybe', scope, 1)})) { (Cons(${head.name}, Cons(_, ${tail.name})), None) => ${branch([head, tail])}, (_, Some(${head.name}x)) => ${branch()}, _ => ${branch()} }`,
    ])();
    return `{ let %v${r}: ${TYPES[kind]} = ${made}; %v${r} }`;
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[this.#below(items.length)];
    if (item === undefined) throw new Error('internal: nothing to pick from');
    return item;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

interface Maker {
  /** An expression with the variables that are in scope. */
  readonly expr: (kind: Kind) => string;
  /** The same with further variables. */
  readonly inside: (kind: Kind, variables: readonly Variable[]) => string;
  readonly below: (limit: number) => number;
  /** A name that nothing has. */
  readonly fresh: () => string;
}

const SHORT = (vector: string): string => `slice(${vector}, starts=[0], ends=[6])`;
const SMALL = 'min=-999, max=999';

const MAKERS: Readonly<Record<Kind, readonly ((maker: Maker) => string)[]>> = {
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
        `@foldl(fn (%${fresh()}a, %b) { ${SHORT('concat(%b, relu(%b), axis=0)')} }, ${expr('vector')}, ${expr('list')})`,
      ),
    ({ expr, fresh }) => {
      const name = fresh();
      return `{ let %${name}: Tensor[(${name},), float32] = ${expr('vector')}; add(%${name}, full(shape=[${name}], value=2)) }`;
    },
    ({ expr, fresh }) => {
      const name = fresh();
      return `{ let %${name}: Tensor[(${name},), float32] = ${expr('vector')}; fn (%y: ${TYPES.scalar}) -> ${TYPES.vector} { full(shape=[${name} + 1], value=3) }(${expr('scalar')}) }`;
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
      const name = `%${fresh()}`;
      const body = inside('vector', [{ kind: 'vector', name }]);
      return `fn (${name}: ${TYPES.vector}) -> ${TYPES.vector} { ${SHORT(body)} }`;
    },
    ({ fresh }) => {
      const name = fresh();
      return `fn (%${name}: Tensor[(${name},), float32]) -> ${TYPES.vector} { add(%${name}, full(shape=[${name}], value=1)) }`;
    },
  ],
};
