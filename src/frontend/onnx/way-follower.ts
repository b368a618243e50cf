import type { VarExpr } from '../../compiler/ir/expr.ts';
import { UnsupportedError, WeftError } from '../../core/errors.ts';
import type { ImportNode } from './import-node.ts';
import { joinWays, regroupWays } from './join-ways.ts';
import type { NodeProto } from './protobuf/schema.ts';
import { readsOf } from './sort-nodes.ts';
import type { Split, Way } from './ways.ts';

/** More are made fewer, one for each combination of ranks. */
const MAX_WAYS = 4;

/** More combinations are refused: each is a copy of what follows. */
const MAX_GROUPS = 32;

/** The importer of a graph's nodes. */
export interface NodeReader {
  /** Imports a node at the end of a way; a split where its results differ in rank. */
  read(way: Way, node: NodeProto): Split | undefined;
  /** A place behind a way where there is no node. */
  placeAt(way: Way, split: Split): ImportNode;
  /** Returns true for a node with graphs inside, and for a call of a function of the model. */
  mayBranch(node: NodeProto): boolean;
  /** Returns true for an error of the graph itself, whichever way a program takes. */
  isFault(error: Error): boolean;
}

/** Follows the nodes of a graph along all ways through it. */
export class WayFollower {
  readonly #root: Way;
  readonly #reader: NodeReader;
  readonly #lastReads: ReadonlyMap<string, number>;
  readonly #results: ReadonlySet<string>;
  readonly #isMain: boolean;

  /** `isMain`: whether the results are those of the model, which may be of any rank. */
  constructor(
    root: Way,
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

  /** Goes on behind the node that has this place in the order. An error of all ways is the root's. */
  pass(node: NodeProto, index: number): void {
    this.#readAlong(this.#root, node);
    const lastRead = (name: string): number => this.#lastReads.get(name) ?? -1;
    this.#meet(this.#root, {
      isLive: (name) => lastRead(name) > index || this.#results.has(name),
      isResult: (name) => this.#isMain && lastRead(name) <= index,
    });
    this.#limitWays();
  }

  /** Imports a node where the ways have the same operands, else on each of them. */
  #readAlong(way: Way, node: NodeProto): void {
    const { split } = way;
    if (way.error !== undefined) return;
    if (split !== undefined && !this.#isCommon(node, split)) {
      for (const next of split.ways) this.#readAlong(next, node);
      return;
    }
    try {
      const begun = this.#reader.read(way, node);
      if (begun !== undefined) this.#take(way, begun, node);
    } catch (thrown) {
      if (!(thrown instanceof WeftError) || this.#reader.isFault(thrown)) throw thrown;
      way.error = thrown;
    }
    if (split === undefined || way.error !== undefined) return;
    for (const name of node.output) {
      const value = way.names.lookup(name);
      if (value !== undefined) split.inherit(name, value);
    }
  }

  /**
   * Returns true for a node that cannot split a way and reads nothing that differs between the
   * ways.
   */
  #isCommon(node: NodeProto, split: Split): boolean {
    return (
      !this.#reader.mayBranch(node) && !readsOf(node).some(({ name }) => split.hasChanged(name))
    );
  }

  /** Several splits after each other must not double the ways each time. */
  #limitWays(): void {
    const root = this.#root;
    const { split } = root;
    if (split === undefined || split.ends.length <= MAX_WAYS) return;
    const node = this.#reader.placeAt(root, split);
    root.split = regroupWays(node, { split, names: [...split.changed] });
    if (root.split.ends.length > MAX_GROUPS) throw tooManyWays(split);
  }

  /** Makes one way of those that differ in nothing any more. */
  #meet(way: Way, uses: NameUses): void {
    const { split } = way;
    if (split === undefined || way.error !== undefined) return;
    for (const next of split.ways) {
      this.#meet(next, uses);
      next.names.drop((name) => !uses.isLive(name));
    }
    way.error = split.error;
    const rest = split.ways.filter(({ error }) => error === undefined);
    if (way.error !== undefined || rest.some((next) => next.split !== undefined)) return;
    const [only] = rest;
    const node = this.#reader.placeAt(way, split);
    const names = [...new Set(rest.flatMap((next) => [...next.names.changed]))];
    if (only !== undefined && rest.length === 1 && only.entry.length > 0) {
      way.absorb(only);
    } else {
      const columns = names.map((name) => rest.flatMap((next) => next.names.lookup(name) ?? []));
      if (columns.some((column) => column.length < rest.length)) return;
      const joined = joinWays(node, split, columns, (column) =>
        uses.isResult(names[column] ?? '') ? 'ranks' : 'none',
      );
      if (joined === undefined) return;
      for (const [i, name] of names.entries()) {
        const value = joined[i];
        if (value !== undefined) way.names.set(name, value);
      }
    }
    way.split = undefined;
  }

  /** Goes on in the ways that a node splits into, with their results under the node's names. */
  #take(way: Way, split: Split, { output }: NodeProto): void {
    const node = this.#reader.placeAt(way, split);
    split.begin(way.names);
    for (const end of split.ends) {
      const entry: (VarExpr | undefined)[] = [];
      for (const [i, name] of output.entries()) {
        const value = end.results[i];
        if (name === '' || value === undefined) continue;
        const isKnown =
          value.kind === 'constant' ||
          node.shapeValue(value) !== undefined ||
          node.composite(value) !== undefined;
        const type = node.context.types.of(value);
        const options = { name: 'taken', type, span: split.span };
        const variable = isKnown ? undefined : end.block.bind(value, options);
        entry.push(variable);
        end.names.set(name, variable ?? value);
      }
      const variables = entry.flatMap((variable) => variable ?? []);
      end.entry = variables.length === entry.length ? variables : [];
    }
    way.split = split;
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

function tooManyWays({ where }: Split): UnsupportedError {
  return new UnsupportedError({
    where,
    got: `branches that differ in rank, in more than ${MAX_GROUPS} combinations with those before`,
    expected: 'fewer, because the nodes after them are compiled for each',
    remedy: 'Export the model with conditions that are constant.',
  });
}
