import { stopOf } from '../../compiler/ir/build.ts';
import type { Expr, Span, VarExpr } from '../../compiler/ir/expr.ts';
import type { Type } from '../../compiler/ir/type.ts';
import type { WeftError } from '../../core/errors.ts';
import type { Block, Names } from './graph-scope.ts';

/**
 * A way of a program through the nodes of a graph. It splits at an `If` whose branches give tensors of
 * different ranks: no tensor has two, so that the nodes behind are imported for each way until their
 * values are of one rank again.
 */
export class Way {
  readonly block: Block;
  names: Names;
  /** The split at its end, if it goes on in one of several ways. */
  split: Split | undefined;
  /** Why the nodes on it cannot be imported: a program that takes it stops. */
  error: WeftError | undefined;
  /** The outputs of the graph at its end. */
  results: readonly (Expr | undefined)[] = [];
  /**
   * Variables of the block for all that the way begins with; none where the importer has to know a
   * value itself.
   */
  entry: readonly VarExpr[] = [];

  constructor(block: Block, names: Names) {
    this.block = block;
    this.names = names;
  }

  /** The ways that do not split and can be imported, this one or further on. */
  get ends(): readonly Way[] {
    if (this.error !== undefined) return [];
    return this.split === undefined ? [this] : this.split.ends;
  }

  /** The bindings of the way, then the result of `endOf` for its ends; a stop has the type of those. */
  expression(type: Type, endOf: (end: Way) => Expr): Expr {
    if (this.error !== undefined) return stopOf(this.error, type);
    const { split } = this;
    const end = split === undefined ? endOf(this) : split.expression(type, endOf);
    return this.block.wrap(end);
  }

  /** Goes on as the only one of the ways that can be imported: on the others the program stops. */
  absorb(only: Way): void {
    const { split } = this;
    this.block.absorb(only.block);
    for (const variable of only.entry) {
      this.block.replace(variable, (value) => split?.guard(only, value, variable) ?? value);
    }
    for (const name of only.names.changed) {
      const value = only.names.lookup(name);
      if (value !== undefined) this.names.set(name, value);
    }
  }

  /** Returns true if a dimension has its name from a value that is computed on the way. */
  hasNamed(symbol: string): boolean {
    return this.block.hasNamed(symbol) || (this.split?.hasNamed(symbol) ?? false);
  }
}

/** A node at which a way goes on in one of several. */
export class Split {
  readonly ways: readonly Way[];
  /** The node at which it does. */
  readonly where: string;
  readonly span: Span;
  readonly #choose: (bodies: readonly Expr[]) => Expr;

  /** `choose` makes an expression of those of the ways. */
  constructor(
    ways: readonly Way[],
    place: { readonly where: string; readonly span: Span },
    choose: (bodies: readonly Expr[]) => Expr,
  ) {
    this.ways = ways;
    this.where = place.where;
    this.span = place.span;
    this.#choose = choose;
  }

  get ends(): readonly Way[] {
    return this.ways.flatMap(({ ends }) => ends);
  }

  /** Why none of the ways can be imported: what Weft does not have goes first. */
  get error(): WeftError | undefined {
    if (this.ends.length > 0) return undefined;
    const errors = this.ways.flatMap((way) => way.error ?? way.split?.error ?? []);
    return errors.find(({ name }) => name === 'UnsupportedError') ?? errors[0];
  }

  /** True if a program may come to a stop on one of the ways. */
  get mayStop(): boolean {
    return this.ways.some(({ error, split }) => error !== undefined || split?.mayStop === true);
  }

  expression(type: Type, endOf: (end: Way) => Expr): Expr {
    return this.#choose(this.ways.map((way) => way.expression(type, endOf)));
  }

  /** The value on one of the ways; on the others the program stops. */
  guard(only: Way, value: Expr, { type }: VarExpr): Expr {
    const stop = ({ error }: Way): Expr => {
      if (error !== undefined && type !== undefined) return stopOf(error, type);
      throw new Error('internal: two ways that can be imported as one');
    };
    return this.#choose(this.ways.map((way) => (way === only ? value : stop(way))));
  }

  hasNamed(symbol: string): boolean {
    return this.ways.some((way) => way.hasNamed(symbol));
  }

  /** Names that have other values on the ways than before it. */
  get changed(): ReadonlySet<string> {
    return new Set(
      this.ways.flatMap(({ names, split }) => [...names.changed, ...(split?.changed ?? [])]),
    );
  }

  hasChanged(name: string): boolean {
    return this.ways.some(
      ({ names, split }) => names.changed.has(name) || (split?.hasChanged(name) ?? false),
    );
  }

  /** Lets all ways begin with the names of a graph. */
  begin(names: Names): void {
    for (const way of this.ways) {
      way.names = names.fork();
      way.split?.begin(names);
    }
  }

  /** A value that all ways have. */
  inherit(name: string, value: Expr): void {
    for (const way of this.ways) {
      way.names.inherit(name, value);
      way.split?.inherit(name, value);
    }
  }
}
