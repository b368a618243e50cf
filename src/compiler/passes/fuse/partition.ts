import { sameDim } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { type AncestorNode, below, commonAncestor, type Scopes } from '../../ir/walk/scopes.ts';
import { type CallExpr, type Expr, formatSpan } from '../../ir/expr.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { Dataflow, isView } from './dataflow.ts';
import { hasHeavy, isWorthRepeating, loadsOf, typicalCount } from './element-cost.ts';
import { type Group, Groups } from './groups.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import { kernelName, WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import { childrenOf } from '../../ir/walk/visit.ts';

/**
 * Which calls of operators become one kernel, by post-dominators (Chen et al., "TVM: An Automated
 * End-to-End Optimizing Compiler for Deep Learning", 2018): a call and everything between it and its
 * immediate post-dominator come together where all of it fits one pattern. Nothing in between is
 * read from outside, so that a kernel has one result and computes each element of a value once.
 *
 * 1. Anchors and reductions take what is elementwise behind them, then a product the transpose that
 *    its elements are stored by.
 * 2. Elementwise calls and moves of data join what reads them; elementwise ones also anchors that
 *    load each element seldom enough.
 *
 * All calls of a group are of one scope and one device. Views between two calls join the group;
 * others stay outside, where they cost nothing.
 */
export function partition(scopes: Scopes, types: TypeInference, isFused: boolean): Groups {
  const dataflow = new Dataflow(scopes, types);
  const groups = new Groups(dataflow);
  gatherAlternatives(dataflow, groups);
  if (!isFused) return groups;
  const partitioner = new Partitioner(dataflow, groups);
  for (const expr of scopes.order) if (dataflow.isAnchor(expr)) partitioner.extendBehind(expr);
  for (const expr of scopes.order) partitioner.joinReaders(expr);
  return groups;
}

/** Operators whose kernels write each element once, in any place. */
const PERMUTED_ANCHORS: ReadonlySet<string> = new Set([
  'matmul',
  'gemm',
  'scaled_dot_product_attention',
  'cached_attention',
]);

/** The most calls that are looked at between a call and its post-dominator. */
const MAX_REGION = 64;

class Partitioner {
  readonly #dataflow: Dataflow;
  readonly #groups: Groups;
  readonly #dominatorOf: (expr: Expr) => Expr | undefined;

  constructor(dataflow: Dataflow, groups: Groups) {
    this.#dataflow = dataflow;
    this.#groups = groups;
    this.#dominatorOf = postDominators(dataflow);
  }

  /** Lets an anchor store what is computed from its elements, as far as that goes. */
  extendBehind(anchor: Expr): void {
    const group = this.#groups.of(anchor);
    if (group === undefined || group.isClosed) return;
    for (let from = group.last; ; ) {
      const region = this.#region(from);
      if (region === undefined || !this.#isElementwiseBehind(region)) break;
      if (!this.#groups.unite([from, ...region.calls])) break;
      const merged = this.#groups.of(from);
      if (merged === undefined || merged.last === from) break;
      from = merged.last;
    }
    this.#storePermuted(this.#groups.of(anchor) ?? group);
  }

  /** Lets a call join the kernel of what reads it, with all calls in between. */
  joinReaders(expr: Expr): void {
    const group = this.#groups.of(expr);
    if (group === undefined || group.last !== expr) return;
    if (group.isClosed || group.anchor !== undefined) return;
    const region = this.#region(expr);
    if (region !== undefined && this.#canJoin(region, group)) {
      this.#groups.unite([region.from, ...region.calls]);
    }
  }

  /**
   * A call and its post-dominator that is no view, with what lies between. Undefined where something
   * in between is no view and not elementwise, is on another device or in a group that is closed.
   */
  #region(from: CallExpr): Region | undefined {
    let sink = this.#dominatorOf(from);
    while (sink !== undefined && isView(sink)) sink = this.#dominatorOf(sink);
    if (sink?.kind !== 'call' || !this.#isOpen(sink, from)) return undefined;
    const found = new Set<Expr>([from]);
    let isPath = true;
    for (const expr of found) {
      if (expr === sink) continue;
      const readers = this.#dataflow.readers(expr);
      isPath &&= readers.length === 1;
      for (const reader of readers) {
        if (reader !== sink && !this.#isLink(reader, from)) return undefined;
        found.add(reader);
      }
      if (found.size > MAX_REGION) return undefined;
    }
    found.delete(from);
    const calls = [...found].filter((expr) => expr.kind === 'call');
    return { from, sink, calls, isPath };
  }

  /** Returns true if an expression may stand between a call and its post-dominator. */
  #isLink(expr: Expr, from: CallExpr): boolean {
    if (isView(expr)) return true;
    return this.#dataflow.operatorOf(expr)?.kind === 'elementwise' && this.#isOpen(expr, from);
  }

  #isOpen(expr: Expr, { onDevice }: CallExpr): boolean {
    const group = this.#groups.of(expr);
    return group !== undefined && !group.isClosed && group.device === onDevice;
  }

  /**
   * Returns true if everything in a region after an anchor is elementwise, over the anchor's
   * elements.
   */
  #isElementwiseBehind(region: Region): boolean {
    if (this.#dataflow.operatorOf(region.sink)?.kind !== 'elementwise') return false;
    const anchors = new Set<Expr>();
    for (const call of [region.from, ...region.calls]) {
      const group = this.#groups.of(call);
      if (group?.movesData === true) return false;
      if (group?.anchor !== undefined) anchors.add(group.anchor);
    }
    return anchors.size === 1 && this.#hasEqualSizes(region);
  }

  #canJoin(region: Region, group: Group): boolean {
    const { sink, calls, isPath } = region;
    const parts = [group, ...calls.flatMap((call) => this.#groups.of(call) ?? [])];
    const anchors = new Set(parts.flatMap(({ anchor }) => anchor ?? []));
    if (anchors.size > 1) return false;
    if (this.#dataflow.isAnchor(sink)) return this.#canLoad(region, parts);
    if (anchors.size > 0 && parts.some(({ movesData }) => movesData)) return false;
    if (this.#dataflow.operatorOf(sink)?.kind === 'elementwise') return this.#hasEqualSizes(region);
    return (
      isPath && this.#dataflow.operatorOf(sink)?.kind === 'injective' && !this.#isReadAgain(sink)
    );
  }

  /**
   * Returns true if the elementwise calls of a region have the shapes of the operands that they
   * read in it.
   */
  #hasEqualSizes({ from, sink, calls }: Region): boolean {
    const inside = new Set<Expr>([from, ...calls]);
    return calls.every((call) => {
      if (isView(call) || (call === sink && this.#dataflow.isAnchor(sink))) return true;
      const { shape } = this.#dataflow.tensorType(call);
      return call.args.every(
        (arg) => !inside.has(arg) || sameDims(this.#dataflow.tensorType(arg).shape, shape),
      );
    });
  }

  /**
   * Returns true if a move of data has more elements than its operands, so that some are read
   * several times.
   */
  #isReadAgain(call: CallExpr): boolean {
    let available = 0;
    for (const arg of call.args) available += typicalCount(this.#dataflow.tensorType(arg).shape);
    return typicalCount(this.#dataflow.tensorType(call).shape) > available;
  }

  /**
   * Returns true if an anchor may compute the elements that it loads, instead of reading them from
   * memory.
   */
  #canLoad(region: Region, parts: readonly Group[]): boolean {
    const { from, sink } = region;
    const isStored = parts.some((part) => part.movesData && part.anchor !== undefined);
    if (isStored || !this.#hasEqualSizes(region)) return false;
    const producers = new Set<CallExpr>();
    for (const { members, anchor } of parts) {
      if (anchor === undefined) for (const member of members) producers.add(member);
    }
    for (const call of region.calls) if (isView(call)) producers.add(call);
    const isMoved = parts.some(({ movesData }) => movesData);
    const repetition = { from, anchor: sink, producers };
    // An anchor stores what it would have to find by a map of indices.
    if (isMoved && this.#dataflow.operatorOf(sink)?.kind !== 'reduction') return false;
    return isMoved
      ? loadsOf(this.#dataflow, repetition) <= 1 && !hasHeavy(this.#dataflow, producers)
      : isWorthRepeating(this.#dataflow, repetition);
  }

  /**
   * Lets a product store its elements where a transpose of it, or of a view of it, wants them: heads
   * of attention are made so.
   */
  #storePermuted(group: Group): void {
    const isProduct =
      group.anchor !== undefined && PERMUTED_ANCHORS.has(operatorName(group.anchor));
    if (!isProduct || group.movesData) return;
    const [first, ...others] = this.#dataflow.readers(group.last);
    if (first?.kind !== 'call' || others.length > 0) return;
    const [second, ...more] = isView(first) ? this.#dataflow.readers(first) : [first];
    if (second?.kind !== 'call' || more.length > 0 || operatorName(second) !== 'transpose') return;
    const { scopes } = this.#dataflow;
    const isNear = scopes.of(second) === scopes.of(group.last) && second.onDevice === group.device;
    if (!isNear) return;
    this.#groups.unite(isView(first) ? [group.last, first, second] : [group.last, second]);
  }
}

interface Region {
  readonly from: CallExpr;
  /** The call at which all paths from the first call meet again: its post-dominator. */
  readonly sink: CallExpr;
  /** The calls behind the first, with the post-dominator. */
  readonly calls: readonly CallExpr[];
  /** True if there is only one path from the first call to the post-dominator. */
  readonly isPath: boolean;
}

/** Returns true if two shapes are certainly equal; unknown dimensions never are. */
function sameDims(a: readonly Dim[], b: readonly Dim[]): boolean {
  return (
    a.length === b.length && a.every((dim, axis) => dim !== '?' && sameDim(dim, b[axis] ?? '?'))
  );
}

interface Node extends AncestorNode<Node> {
  readonly expr: Expr;
}

/**
 * The immediate post-dominator of each call of an operator: the first call through which all that
 * is computed from its value goes. A call has none if its value leaves the scope, or goes to what is
 * no operator, without passing through one call.
 *
 * The dataflow of a function has no cycles, so one walk from the results backwards is enough: the
 * post-dominator is the lowest common ancestor of the readers in the tree of those that are known
 * (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001), found in logarithmic
 * time.
 */
function postDominators(dataflow: Dataflow): (expr: Expr) => Expr | undefined {
  const { scopes } = dataflow;
  const nodes = new Map<Expr, Node>();
  for (const expr of scopes.order.toReversed()) {
    if (dataflow.operatorOf(expr) === undefined && !isView(expr)) continue;
    const scope = scopes.of(expr);
    const readers = dataflow
      .readers(expr)
      .map((reader) => (scopes.of(reader) === scope ? nodes.get(reader) : undefined));
    nodes.set(expr, { expr, ...below(commonOf(readers)) });
  }
  return (expr) => nodes.get(expr)?.parent?.expr;
}

function commonOf(readers: readonly (Node | undefined)[]): Node | undefined {
  let common = readers[0];
  for (const reader of readers.slice(1)) {
    if (common === undefined || reader === undefined) return undefined;
    common = commonAncestor(common, reader);
  }
  return common;
}

/**
 * The alternative of a kernel that the program brings along joins its group, with all that only the
 * alternative reads: WebGPU leaves it out, and the host runs nothing else.
 */
function gatherAlternatives(dataflow: Dataflow, groups: Groups): void {
  for (const expr of dataflow.scopes.order) {
    if (expr.kind !== 'call' || operatorName(expr) !== WGSL_KERNEL) continue;
    if (expr.attributes['alternative'] === true) gatherAlternative(expr, dataflow, groups);
  }
}

function gatherAlternative(expr: CallExpr, dataflow: Dataflow, groups: Groups): void {
  const { scopes } = dataflow;
  const wanted = (arg: Expr): arg is CallExpr =>
    arg.kind === 'call' &&
    (groups.of(arg) !== undefined || isView(arg)) &&
    scopes.of(arg) === scopes.of(expr) &&
    arg.onDevice === expr.onDevice;
  const members = new Set<CallExpr>();
  const counts = new Map<Expr, number>();
  const work = expr.args.slice(-1);
  for (let arg = work.pop(); arg !== undefined; arg = work.pop()) {
    const count = (counts.get(arg) ?? 0) + 1;
    counts.set(arg, count);
    if (count !== dataflow.readers(arg).length || !wanted(arg) || members.has(arg)) continue;
    members.add(arg);
    work.push(...new Set(childrenOf(arg)));
  }
  const last = expr.args.at(-1);
  // A value that something else reads too is computed anyway.
  if (last === undefined || !(operatorName(last) !== '' || isAtom(last))) throw noAlternative(expr);
  groups.gather([expr, ...members]);
}

function noAlternative({ span, attributes }: CallExpr): UnsupportedError {
  return new UnsupportedError({
    where: formatSpan(span, `kernel ${kernelName(attributes)}`),
    got: 'an alternative for the host that calls functions or branches',
    expected: 'operators on tensors, or small functions of such',
  });
}
