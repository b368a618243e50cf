import type { VarExpr } from '../../../compiler/ir/expr.ts';
import { UnsupportedError, WeftError } from '../../../core/errors.ts';
import type { ImportNode } from '../import-node.ts';
import { joinPaths, regroupPaths } from './join-paths.ts';
import type { NodeProto } from '../protobuf/schema.ts';
import { readsOf } from '../model/sort-nodes.ts';
import type { Fork, Path } from './paths.ts';

/** More are made fewer, one for each combination of ranks. */
const MAX_WAYS = 4;

/** More combinations are refused: each is a copy of what follows. */
const MAX_GROUPS = 32;

/** The importer of a graph's nodes. */
export interface NodeReader {
  /** Imports a node at the end of a path; a fork where its results differ in rank. */
  read(path: Path, node: NodeProto): Fork | undefined;
  /** A place behind a path where there is no node. */
  placeAt(path: Path, fork: Fork): ImportNode;
  /** Returns true for a node with graphs inside, and for a call of a function of the model. */
  mayBranch(node: NodeProto): boolean;
  /** Returns true for an error of the graph itself, whichever path a program takes. */
  isFault(error: Error): boolean;
}

/** Follows the nodes of a graph along all paths through it. */
export class PathFollower {
  readonly #root: Path;
  readonly #reader: NodeReader;
  readonly #lastReads: ReadonlyMap<string, number>;
  readonly #results: ReadonlySet<string>;
  readonly #isMain: boolean;

  /** `isMain`: whether the results are those of the model, which may be of any rank. */
  constructor(
    root: Path,
    reader: NodeReader,
    graph: {
      readonly order: readonly NodeProto[];
      readonly results: readonly string[];
      readonly isMain: boolean;
    },
  ) {
    this.#root = root;
    this.#reader = reader;
    this.#lastReads = lastReadsOf(graph.order);
    this.#results = new Set(graph.results);
    this.#isMain = graph.isMain;
  }

  /** Goes on behind the node that has this place in the order. An error of all paths is the root's. */
  pass(node: NodeProto, index: number): void {
    this.#readAlong(this.#root, node);
    const lastRead = (name: string): number => this.#lastReads.get(name) ?? -1;
    this.#meet(this.#root, {
      isLive: (name) => lastRead(name) > index || this.#results.has(name),
      isResult: (name) => this.#isMain && lastRead(name) <= index,
    });
    this.#limitPaths();
  }

  /** Imports a node where the paths have the same operands, else on each of them. */
  #readAlong(path: Path, node: NodeProto): void {
    const { fork } = path;
    if (path.error !== undefined) return;
    if (fork !== undefined && !this.#isCommon(node, fork)) {
      for (const next of fork.paths) this.#readAlong(next, node);
      return;
    }
    try {
      const next = this.#reader.read(path, node);
      if (next !== undefined) this.#take(path, next, node);
    } catch (thrown) {
      if (!(thrown instanceof WeftError) || this.#reader.isFault(thrown)) throw thrown;
      path.error = thrown;
    }
    if (fork === undefined || path.error !== undefined) return;
    for (const name of node.output) {
      const value = path.names.lookup(name);
      if (value !== undefined) fork.inherit(name, value);
    }
  }

  /**
   * Returns true for a node that cannot fork a path and reads nothing that differs between the
   * paths.
   */
  #isCommon(node: NodeProto, fork: Fork): boolean {
    return (
      !this.#reader.mayBranch(node) && !readsOf(node).some(({ name }) => fork.hasChanged(name))
    );
  }

  /** Several forks after each other must not double the paths each time. */
  #limitPaths(): void {
    const root = this.#root;
    const { fork } = root;
    if (fork === undefined || fork.exits.length <= MAX_WAYS) return;
    const node = this.#reader.placeAt(root, fork);
    root.fork = regroupPaths(node, { fork, names: [...fork.changed] });
    if (root.fork.exits.length > MAX_GROUPS) throw tooManyPaths(fork);
  }

  /** Makes one path of those that differ in nothing any more. */
  #meet(path: Path, uses: NameUses): void {
    const { fork } = path;
    if (fork === undefined || path.error !== undefined) return;
    for (const next of fork.paths) {
      this.#meet(next, uses);
      next.names.drop((name) => !uses.isLive(name));
    }
    path.error = fork.error;
    const rest = fork.paths.filter(({ error }) => error === undefined);
    if (path.error !== undefined || rest.some((next) => next.fork !== undefined)) return;
    const [only] = rest;
    const node = this.#reader.placeAt(path, fork);
    const names = [...new Set(rest.flatMap((next) => [...next.names.changed]))];
    if (only !== undefined && rest.length === 1 && only.entry.length > 0) {
      path.absorb(only);
    } else {
      const columns = names.map((name) => rest.flatMap((next) => next.names.lookup(name) ?? []));
      if (columns.some((column) => column.length < rest.length)) return;
      const joined = joinPaths(node, fork, columns, (column) =>
        uses.isResult(names[column] ?? '') ? 'ranks' : 'none',
      );
      if (joined === undefined) return;
      for (const [i, name] of names.entries()) {
        const value = joined[i];
        if (value !== undefined) path.names.set(name, value);
      }
    }
    path.fork = undefined;
  }

  /** Goes on in the paths that a node forks into, with their results under the node's names. */
  #take(path: Path, fork: Fork, { output }: NodeProto): void {
    const node = this.#reader.placeAt(path, fork);
    fork.begin(path.names);
    for (const end of fork.exits) {
      const entry: (VarExpr | undefined)[] = [];
      for (const [i, name] of output.entries()) {
        const value = end.results[i];
        if (name === '' || value === undefined) continue;
        const isKnown =
          value.kind === 'constant' ||
          node.shapeValue(value) !== undefined ||
          node.composite(value) !== undefined;
        const type = node.context.types.of(value);
        const options = { name: 'taken', type, span: fork.span };
        const variable = isKnown ? undefined : end.block.bind(value, options);
        entry.push(variable);
        end.names.set(name, variable ?? value);
      }
      const variables = entry.flatMap((variable) => variable ?? []);
      end.entry = variables.length === entry.length ? variables : [];
    }
    path.fork = fork;
  }
}

/** The reads that are still to come of the values of names. */
interface NameUses {
  readonly isLive: (name: string) => boolean;
  /** Returns true for a result of the model that no node reads any more. */
  readonly isResult: (name: string) => boolean;
}

/** The index in the order of the node that reads each name last. */
function lastReadsOf(order: readonly NodeProto[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const [index, node] of order.entries()) {
    for (const { name } of readsOf(node)) last.set(name, index);
  }
  return last;
}

function tooManyPaths({ where }: Fork): UnsupportedError {
  return new UnsupportedError({
    where,
    got: `branches that differ in rank, in more than ${MAX_GROUPS} combinations with those before`,
    expected: 'fewer, because the nodes after them are compiled for each',
    remedy: 'Export the model with conditions that are constant.',
  });
}
