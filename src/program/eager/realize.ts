import { internalError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { func, moduleOf } from '../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../compiler/ir/expr.ts';
import { formatType } from '../../compiler/ir/type.ts';
import { postOrder } from '../../compiler/ir/walk/visit.ts';
import { isOperatorCall } from '../../compiler/ir/operators/operator-name.ts';
import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import { type ArrayState, dataOf, leafExpr, PENDING } from '../array-state.ts';
import { LeastRecent } from '../runners/least-recent.ts';
import { MOST_SHARED, sharedRunner } from '../runners/shared-runners.ts';
import { bundle } from '../trace.ts';
import { argumentOf } from './argument-of.ts';
import { tensorAt } from './device-array.ts';
import { release, releaseWithLeaf } from './release.ts';

/** Nodes of computations that were asked for after these had run without giving them, by the text. */
const ASKED_FOR = new LeastRecent<Set<number>>(MOST_SHARED);

/** Begins to compute arrays that are not there yet. */
export function realize(targets: readonly ArrayState[]): void {
  const states = targets.filter(({ expr, isDisposed }) => expr.kind !== 'var' && !isDisposed);
  if (states.length === 0) return;
  const graph = graphOf(states.map(({ expr }) => expr));
  const given = [...new Set([...states.map(({ expr }) => graph.indexOf(expr)), ...asked(graph)])];
  const text = `${graph.text}-> ${given.join(' ')}`;
  const runner = sharedRunner(text, () =>
    moduleOf({ main: func(graph.leaves, bundle(given.map(graph.at))) }),
  );
  const results = runner.run(graph.leaves.map(argumentOf));
  for (const [position, index] of given.entries()) {
    keepResult(graph.at(index), tensorAt(results, position));
  }
  noteOthers(graph, new Set(given));
}

interface Graph {
  readonly text: string;
  readonly leaves: readonly VarExpr[];
  readonly nodes: readonly Expr[];
  readonly at: (index: number) => Expr;
  readonly indexOf: (expr: Expr) => number;
}

/** Nodes in the order in which they are computed, and the same text for the same computation. */
function graphOf(roots: readonly Expr[]): Graph {
  const indices = new Map<Expr, number>();
  const nodes: Expr[] = [];
  const leaves: VarExpr[] = [];
  let text = '';
  for (const root of roots) {
    for (const node of postOrder(root, (inner) => !indices.has(inner))) {
      if (indices.has(node) || node.kind === 'operator') continue;
      indices.set(node, nodes.length);
      nodes.push(node);
      if (node.kind === 'var') leaves.push(node);
      text += `${textOf(node, indices)}\n`;
    }
  }
  const at = (index: number): Expr => {
    const node = nodes[index];
    if (node === undefined) throw internalError(`no node ${index}`);
    return node;
  };
  return { text, leaves, nodes, at, indexOf: (expr) => indices.get(expr) ?? -1 };
}

function textOf(node: Expr, indices: ReadonlyMap<Expr, number>): string {
  if (node.kind === 'var') return node.type === undefined ? '?' : formatType(node.type);
  if (!isOperatorCall(node)) {
    throw internalError(`a ${node.kind} among eager computations`);
  }
  const args = node.args.map((arg) => indices.get(arg)).join(' ');
  return `${node.callee.name} ${args} ${attributesText(node.attributes)}`;
}

/** JSON would write infinities and NaN alike. */
function attributesText(attributes: Attributes): string {
  return JSON.stringify(attributes, (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

/** The array of a node has elements from now on, or nobody has it any more. */
function keepResult(expr: Expr, device: Promise<DeviceTensor>): void {
  const state = PENDING.get(expr)?.deref();
  if (state === undefined || state.isDisposed) {
    release(device);
    return;
  }
  const leaf = leafExpr(state.type, { device });
  releaseWithLeaf(leaf, dataOf(leaf));
  state.expr = leaf;
  state.depth = 0;
  state.onUse = undefined;
}

/**
 * Intermediate results that are asked for later are given by the next run of the same computation.
 */
function noteOthers(graph: Graph, given: ReadonlySet<number>): void {
  const { text } = graph;
  for (const [index, node] of graph.nodes.entries()) {
    const state = given.has(index) ? undefined : PENDING.get(node)?.deref();
    if (state === undefined || state.expr.kind === 'var') continue;
    state.onUse = () => {
      state.onUse = undefined;
      ASKED_FOR.of(text, () => new Set()).add(index);
    };
  }
}

function asked({ text }: Graph): Iterable<number> {
  return ASKED_FOR.get(text) ?? [];
}
