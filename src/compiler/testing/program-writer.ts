/** A variable of a random program. */
export interface Variable<Kind extends string> {
  readonly kind: Kind;
  readonly name: string;
}

/** What makes an expression of a kind. */
interface Maker<Kind extends string> {
  /** An expression with the variables that are in scope. */
  readonly expr: (kind: Kind) => string;
  /** The same with further variables. */
  readonly inside: (kind: Kind, variables: readonly Variable<Kind>[]) => string;
  readonly below: (limit: number) => number;
  /** A name that no variable has yet. */
  readonly fresh: () => string;
}

/** What makes a branch of a kind: `branch` writes a result, with further variables, and `given` what is branched on. */
interface BranchMaker<Kind extends string> {
  readonly branch: (variables?: readonly Variable<Kind>[]) => string;
  readonly given: (kind: Kind) => string;
}

/** The language of random programs: kinds of values, and how they are made. */
export interface ProgramGrammar<Kind extends string> {
  readonly types: Readonly<Record<Kind, string>>;
  readonly makers: Readonly<Record<Kind, readonly ((maker: Maker<Kind>) => string)[]>>;
  /** An expression without operands. */
  readonly leaf: (kind: Kind, writer: ProgramWriter<Kind>) => string;
  /** Branches and clauses; `names` are fresh. */
  readonly branches: (
    maker: BranchMaker<Kind>,
    names: readonly [string, string, string],
  ) => readonly (() => string)[];
  /** Kinds that branches give. */
  readonly canBranch: (kind: Kind) => boolean;
  /** One in so many expressions is a variable, one in so many others a branch. */
  readonly oneIn: { readonly variable: number; readonly branch: number };
}

/** Writes random expressions of the language of `docs/ir.md`, the same for the same draws. */
export class ProgramWriter<Kind extends string> {
  readonly #grammar: ProgramGrammar<Kind>;
  readonly #random: () => number;
  #serial = 0;

  constructor(grammar: ProgramGrammar<Kind>, random: () => number) {
    this.#grammar = grammar;
    this.#random = random;
  }

  /** An expression of a kind, of at most so many levels. */
  expr(kind: Kind, scope: readonly Variable<Kind>[], depth: number): string {
    const { makers, leaf, canBranch, oneIn } = this.#grammar;
    const known = scope.filter((variable) => variable.kind === kind);
    if (known.length > 0 && (depth <= 0 || this.below(oneIn.variable) === 0)) {
      return this.pick(known).name;
    }
    if (depth <= 0) return leaf(kind, this);
    if (canBranch(kind) && this.below(oneIn.branch) === 0) return this.#branch(kind, scope, depth);
    return this.pick(makers[kind])({
      expr: (of) => this.expr(of, scope, depth - 1),
      below: (limit) => this.below(limit),
      fresh: () => this.fresh(),
      inside: (of, variables) => this.expr(of, [...scope, ...variables], depth - 1),
    });
  }

  /** With a declared type: the results may differ in sizes. */
  #branch(kind: Kind, scope: readonly Variable<Kind>[], depth: number): string {
    const { types, branches } = this.#grammar;
    const result = this.fresh();
    const maker: BranchMaker<Kind> = {
      branch: (variables = []) => this.expr(kind, [...scope, ...variables], depth - 1),
      given: (of) => this.expr(of, scope, 1),
    };
    const made = this.pick(branches(maker, [this.fresh(), this.fresh(), this.fresh()]))();
    return `{ let ${result}: ${types[kind]} = ${made}; ${result} }`;
  }

  fresh(): string {
    return `%v${this.#serial++}`;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('internal: nothing to pick from');
    return item;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
