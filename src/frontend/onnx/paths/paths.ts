import { stopOf } from '../../../compiler/ir/build.ts';
import type { Expr, Span, VarExpr } from '../../../compiler/ir/expr.ts';
import type { Type } from '../../../compiler/ir/type.ts';
import type { WeftError } from '../../../core/errors.ts';
import type { Block, Names } from '../graph-scope.ts';

/**
 * A path of a program through the nodes of a graph. It forks at an `If` whose branches give tensors of
 * different ranks: no tensor has two, so that the nodes behind are imported for each path until their
 * values are of one rank again.
 */
export class Path {
  readonly block: Block;
  names: Names;
  /** The fork at its end, if it goes on in one of several paths. */
  fork: Fork | undefined;
  /** Why the nodes on it cannot be imported: a program that takes it stops. */
  error: WeftError | undefined;
  /** The outputs of the graph at its end. */
  results: readonly (Expr | undefined)[] = [];
  /**
   * Variables of the block for all that the path begins with; none where the importer has to know a
   * value itself.
   */
  entry: readonly VarExpr[] = [];

  constructor(block: Block, names: Names) {
    this.block = block;
    this.names = names;
  }

  /** The paths that do not fork and can be imported, this one or further on. */
  get exits(): readonly Path[] {
    if (this.error !== undefined) return [];
    return this.fork === undefined ? [this] : this.fork.exits;
  }

  /** The bindings of the path, then the result of `endOf` for its exits; a stop has the type of those. */
  expression(type: Type, endOf: (end: Path) => Expr): Expr {
    if (this.error !== undefined) return stopOf(this.error, type);
    const { fork } = this;
    const end = fork === undefined ? endOf(this) : fork.expression(type, endOf);
    return this.block.wrap(end);
  }

  /** Goes on as the only one of the paths that can be imported: on the others the program stops. */
  absorb(only: Path): void {
    const { fork } = this;
    this.block.absorb(only.block);
    for (const variable of only.entry) {
      this.block.replace(variable, (value) => fork?.guard(only, value, variable) ?? value);
    }
    for (const name of only.names.changed) {
      const value = only.names.lookup(name);
      if (value !== undefined) this.names.set(name, value);
    }
  }

  /** Returns true if a dimension has its name from a value that is computed on the path. */
  hasNamed(symbol: string): boolean {
    return this.block.hasNamed(symbol) || (this.fork?.hasNamed(symbol) ?? false);
  }
}

/** A node at which a path goes on in one of several. */
export class Fork {
  readonly paths: readonly Path[];
  readonly where: string;
  readonly span: Span;
  readonly #choose: (bodies: readonly Expr[]) => Expr;

  /** `choose` makes an expression of those of the paths. */
  constructor(
    paths: readonly Path[],
    place: { readonly where: string; readonly span: Span },
    choose: (bodies: readonly Expr[]) => Expr,
  ) {
    this.paths = paths;
    this.where = place.where;
    this.span = place.span;
    this.#choose = choose;
  }

  get exits(): readonly Path[] {
    return this.paths.flatMap(({ exits }) => exits);
  }

  /** Why none of the paths can be imported: what Weft does not have goes first. */
  get error(): WeftError | undefined {
    if (this.exits.length > 0) return undefined;
    const errors = this.paths.flatMap((path) => path.error ?? path.fork?.error ?? []);
    return errors.find(({ name }) => name === 'UnsupportedError') ?? errors[0];
  }

  /** True if a program may come to a stop on one of the paths. */
  get mayStop(): boolean {
    return this.paths.some(({ error, fork }) => error !== undefined || fork?.mayStop === true);
  }

  expression(type: Type, endOf: (end: Path) => Expr): Expr {
    return this.#choose(this.paths.map((path) => path.expression(type, endOf)));
  }

  /** The value on one of the paths; on the others the program stops. */
  guard(only: Path, value: Expr, { type }: VarExpr): Expr {
    const stop = ({ error }: Path): Expr => {
      if (error !== undefined && type !== undefined) return stopOf(error, type);
      throw new Error('internal: two paths that can be imported as one');
    };
    return this.#choose(this.paths.map((path) => (path === only ? value : stop(path))));
  }

  hasNamed(symbol: string): boolean {
    return this.paths.some((path) => path.hasNamed(symbol));
  }

  /** Names that have other values on the paths than before it. */
  get changed(): ReadonlySet<string> {
    return new Set(
      this.paths.flatMap(({ names, fork }) => [...names.changed, ...(fork?.changed ?? [])]),
    );
  }

  hasChanged(name: string): boolean {
    return this.paths.some(
      ({ names, fork }) => names.changed.has(name) || (fork?.hasChanged(name) ?? false),
    );
  }

  /** Lets all paths begin with the names of a graph. */
  begin(names: Names): void {
    for (const path of this.paths) {
      path.names = names.fork();
      path.fork?.begin(names);
    }
  }

  /** A value that all paths have. */
  inherit(name: string, value: Expr): void {
    for (const path of this.paths) {
      path.names.inherit(name, value);
      path.fork?.inherit(name, value);
    }
  }
}
