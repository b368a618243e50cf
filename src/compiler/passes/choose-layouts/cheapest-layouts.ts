import { internalError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import type { RepresentativeSizes } from '../../../core/dims/representative-sizes.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { byteLength } from '../fuse/kernel-work.ts';
import { FlowNetwork } from '../fuse/minimum-cut.ts';
import type { LayoutGraph, LayoutRead, LayoutTaker, LayoutValue } from './layout-graph.ts';
import { between, type Permutation, permuted } from './permutation.ts';

/** Bytes that a device transposes in the time that a launch takes; a guess. */
const LAUNCH_BYTES = 2 ** 14;

/** Who computes in another layout, and how the axes of the layout in the program are permuted for that. */
export type Moves = ReadonlyMap<LayoutValue | LayoutTaker, Permutation>;

/** Values between which no transpose or movable call leads elsewhere; layouts are orders of the axes of one of them. */
interface Component {
  readonly values: LayoutValue[];
  readonly layouts: Map<LayoutValue, Permutation>;
}

/**
 * The layouts in which the fewest bytes are transposed, of those in which values stay as they are or take one other
 * layout: a minimum cut for each layout that is in use. Empty where the program is as good.
 */
export function cheapestLayouts(graph: LayoutGraph, sizes: RepresentativeSizes): Moves {
  const moves = new Map<LayoutValue | LayoutTaker, Permutation>();
  for (const component of componentsOf(graph)) {
    let best: Moves = new Map();
    let least = transposedBytes(component, best, sizes);
    for (const target of targetsOf(component)) {
      const found = cutFor(target, component, sizes);
      const bytes = transposedBytes(component, found, sizes);
      if (bytes >= least) continue;
      best = found;
      least = bytes;
    }
    for (const [moved, perm] of best) moves.set(moved, perm);
  }
  return moves;
}

/** Those with transposes between their values. */
function componentsOf(graph: LayoutGraph): Component[] {
  const components = new Map<LayoutValue, Component>();
  for (const value of graph.values) {
    const { root, layout } = graph.classes.find(value, value.type.shape.length);
    const component: Component = components.get(root) ?? { values: [], layouts: new Map() };
    component.values.push(value);
    component.layouts.set(value, layout);
    components.set(root, component);
  }
  return [...components.values()].filter(({ values }) =>
    values.some(({ reads }) => reads.some(({ perm }) => perm.some((axis, i) => axis !== i))),
  );
}

/** Every layout in which a value is, or is read. */
function targetsOf({ values, layouts }: Component): Iterable<Permutation> {
  const targets = new Map<string, Permutation>();
  for (const value of values) {
    const layout = layoutOf(value, layouts);
    for (const { perm } of [{ perm: layout.map((_, i) => i) }, ...value.reads]) {
      const target = permuted(layout, perm);
      targets.set(target.join(), target);
    }
  }
  return targets.values();
}

function layoutOf(value: LayoutValue, layouts: Component['layouts']): Permutation {
  const layout = layouts.get(value);
  if (layout === undefined) throw internalError('a value without a layout');
  return layout;
}

/** Equal for layouts in which the elements of a tensor lie in the same order: axes of size 1 do not matter. */
function orderIn(layout: Permutation, value: LayoutValue, own: Permutation): string {
  return layout.filter((axis) => value.type.shape[own.indexOf(axis)] !== 1).join();
}

/** The layout in which a value is wanted: that of the program, or the one that the reader moves to. */
function wantedBy({ perm, reader }: LayoutRead, layout: Permutation, moves: Moves): Permutation {
  const inProgram = permuted(layout, perm);
  const moved = reader && moves.get(reader);
  return moved === undefined ? inProgram : permuted(inProgram, moved);
}

function transposedBytes(
  { values, layouts }: Component,
  moves: Moves,
  sizes: RepresentativeSizes,
): number {
  let bytes = 0;
  for (const value of values) {
    const own = layoutOf(value, layouts);
    const moved = moves.get(value);
    const held = orderIn(moved ? permuted(own, moved) : own, value, own);
    const wanted = new Set(
      value.reads.map((read) => orderIn(wantedBy(read, own, moves), value, own)),
    );
    wanted.delete(held);
    bytes += wanted.size * costOf(value.type, sizes);
    if (moved !== undefined) bytes += othersCost(value, moved, sizes);
    countWork(value.reads.length);
  }
  return bytes;
}

function costOf(type: TensorType, sizes: RepresentativeSizes): number {
  return LAUNCH_BYTES + byteLength(type, sizes);
}

/** What it costs to align other operands with permuted axes; nothing for those of one axis. */
function othersCost(
  { others, type }: LayoutValue,
  moved: Permutation,
  sizes: RepresentativeSizes,
): number {
  let bytes = 0;
  for (const other of others) {
    const missing = type.shape.length - other.shape.length;
    const axes = moved.filter((axis) => axis >= missing && other.shape[axis - missing] !== 1);
    if (axes.some((axis, i) => axis < (axes[i - 1] ?? axis))) bytes += costOf(other, sizes);
  }
  return bytes;
}

/** A network whose sink's side is what moves to the target. */
function cutFor(target: Permutation, component: Component, sizes: RepresentativeSizes): Moves {
  const { values, layouts } = component;
  const network = new FlowNetwork();
  const [program, moving] = [network.addVertex(), network.addVertex()];
  const vertices = new Map<LayoutValue | LayoutTaker, number>();
  const moveOf = new Map<LayoutValue | LayoutTaker, Permutation>();
  const vertexOf = (item: LayoutValue | LayoutTaker | undefined): number =>
    (item && vertices.get(item)) ?? program;
  const add = (item: LayoutValue | LayoutTaker, from: Permutation): void => {
    vertices.set(item, network.addVertex());
    moveOf.set(item, between(from, target));
  };
  for (const value of values) {
    const layout = layoutOf(value, layouts);
    if (value.isMovable) {
      add(value, layout);
      const cost = othersCost(value, between(layout, target), sizes);
      network.addEdge(program, vertexOf(value), cost);
    }
    for (const { perm, reader } of value.reads) {
      if (reader === undefined || !('takes' in reader)) continue;
      const from = permuted(layout, perm);
      if (reader.takes(between(from, target))) add(reader, from);
    }
  }
  for (const value of values) {
    const own = layoutOf(value, layouts);
    const cost = costOf(value.type, sizes);
    const [held, aim] = [orderIn(own, value, own), orderIn(target, value, own)];
    const vertex = vertexOf(value);
    // Readers that move, and those that stay by the order in which they want the value.
    const toTarget = network.addVertex();
    const toOrder = new Map<string, number>();
    if (held !== aim) network.addEdge(vertex, toTarget, cost);
    for (const read of value.reads) {
      const order = orderIn(permuted(own, read.perm), value, own);
      const reader = vertexOf(read.reader);
      if (held !== aim) network.addEdge(toTarget, order === aim ? moving : reader, Infinity);
      if (order === aim) continue;
      const known = toOrder.get(order);
      const there = known ?? network.addVertex();
      toOrder.set(order, there);
      network.addEdge(reader, there, Infinity);
      // Where the value stays it is in that order already, or it is transposed either way.
      if (known === undefined) network.addEdge(there, order === held ? vertex : moving, cost);
    }
  }
  const side = network.cut(program, moving);
  return new Map([...moveOf].filter(([item]) => side.has(vertexOf(item))));
}
