import { internalError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { func, moduleOf, variableOf } from '../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../compiler/ir/expr.ts';
import { formatType, tensorType, type TensorTypeNode } from '../../compiler/ir/type.ts';
import { postOrder } from '../../compiler/ir/walk/visit.ts';
import { isOperatorCall } from '../../compiler/ir/operators/operator-name.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import {
  addReader,
  type ArrayData,
  type ArrayState,
  dataOf,
  leafExpr,
  leafState,
  PENDING,
} from '../array-state.ts';
import { LeastRecent } from '../runners/least-recent.ts';
import { MOST_SHARED, sharedRunner } from '../runners/shared-runners.ts';
import { bundle } from '../trace.ts';
import type { OutputValue } from '../../client/values/session-value.ts';
import { addToScope } from './scope.ts';
import { Runner } from '../runners/runner.ts';

/** Nodes of computations that were asked for after these had run without giving them, by the text. */
const READ_LATER = new LeastRecent<Set<number>>(MOST_SHARED);

/** Begins to compute arrays that are not there yet. */
export function realize(targets: readonly ArrayState[]): void {
  const states = targets.filter(({ expr, isDisposed }) => expr.kind !== 'var' && !isDisposed);
  if (states.length === 0) return;
  const graph = graphOf(states.map(({ expr }) => expr));
  const given = [
    ...new Set([...states.map(({ expr }) => graph.indexOf(expr)), ...readLater(graph)]),
  ];
  const text = `${graph.text}-> ${given.join(' ')}`;
  const runner = sharedRunner(text, () =>
    moduleOf({ main: func(graph.leaves, bundle(given.map(graph.at))) }),
  );
  const results = runner.run(graph.leaves.map(argumentOf));
  for (const [position, index] of given.entries()) {
    keepResult(graph.at(index), tensorAt(results, position));
  }
  watchOthers(graph, new Set(given));
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
function watchOthers(graph: Graph, given: ReadonlySet<number>): void {
  const { text } = graph;
  for (const [index, node] of graph.nodes.entries()) {
    const state = given.has(index) ? undefined : PENDING.get(node)?.deref();
    if (state === undefined || state.expr.kind === 'var') continue;
    state.onUse = () => {
      state.onUse = undefined;
      READ_LATER.of(text, () => new Set()).add(index);
    };
  }
}

function readLater({ text }: Graph): Iterable<number> {
  return READ_LATER.get(text) ?? [];
}

/** Fewer bytes travel with each run; a tensor on the device costs more than they do. */
const LEAST_BYTES = 4096;

/**
 * The elements of a leaf, for a run where arrays are computed by default. Those of the page stay on the device from their
 * second run on.
 */
export function argumentOf(leaf: VarExpr): ArrayData {
  const data = dataOf(leaf);
  const { host, device } = data;
  if (host === undefined || device !== undefined || host.data.byteLength < LEAST_BYTES) return data;
  data.runs++;
  if (data.runs === 2) upload(leaf, data);
  return data;
}

/** Runs a program that gives what it gets. */
function upload(leaf: VarExpr, data: ArrayData): void {
  if (leaf.type?.kind !== 'tensor') return;
  const { dtype, shape } = leaf.type;
  const type = tensorType({ dtype, shape: shape.map((_, axis) => `n${axis}`) });
  const runner = sharedRunner(`upload ${formatType(type)}`, () => {
    const x = variableOf('x', type);
    return moduleOf({ main: func([x], x) });
  });
  const host: ArrayData = { ...data, readers: new Set() };
  data.device = tensorAt(runner.run([host]), 0);
  addReader(data, data.device);
  releaseWithLeaf(leaf, data);
}

/** The array of a result of a run, at a position; its elements stay on the device. */
export function deviceArray(
  type: TensorTypeNode,
  results: Promise<readonly OutputValue[]>,
  position: number,
): ArrayState {
  const state = leafState(type, { device: tensorAt(results, position) });
  if (state.expr.kind === 'var') releaseWithLeaf(state.expr, dataOf(state.expr));
  addToScope(state);
  return state;
}

/** A result of a run. Whoever reads the array gets the error of a run that fails. */
function tensorAt(
  results: Promise<readonly OutputValue[]>,
  position: number,
): Promise<DeviceTensor> {
  const tensor = results.then((values) => {
    const value = values[position];
    if (value instanceof DeviceTensor) return value;
    throw internalError('a result that is no tensor');
  });
  tensor.catch(() => undefined);
  return tensor;
}

/** The last resort: elements of arrays that nobody has any more, and that nobody disposed of. */
const COLLECTED = new FinalizationRegistry<ArrayData>(releaseAfterReaders);

/** Frees elements on a device when nothing refers to their variable any more. */
function releaseWithLeaf(leaf: VarExpr, data: ArrayData): void {
  if (data.device !== undefined) COLLECTED.register(leaf, data, leaf);
}

/** Frees the elements of a variable, once runs that read them have begun. */
export function releaseNow(leaf: VarExpr, data: ArrayData): void {
  COLLECTED.unregister(leaf);
  releaseAfterReaders(data);
}

/** Runs that are to read them may still wait for their program. */
function releaseAfterReaders({ device, readers }: ArrayData): void {
  if (device !== undefined) void Promise.allSettled(readers).then(() => release(device));
}

function release(device: Promise<DeviceTensor>): void {
  device.then(
    (tensor) => Runner.release(tensor),
    // There is nothing to free of a run that failed.
    () => undefined,
  );
}
