/** An order of axes: axis i of the result is axis `perm[i]` of what is permuted, as `transpose` has it. */
export type Permutation = readonly number[];

export function identity(rank: number): Permutation {
  return Array.from({ length: rank }, (_, axis) => axis);
}

/** The entries in the order of a permutation. Of a permutation: first it, then `perm`. */
export function permuted<T>(list: readonly T[], perm: Permutation): T[] {
  return perm.flatMap((axis) => list.slice(axis, axis + 1));
}

/** The permutation that leads from one layout of the same axes to another. */
export function between(from: Permutation, to: Permutation): Permutation {
  return to.map((axis) => from.indexOf(axis));
}

export function isIdentity(perm: Permutation): boolean {
  return perm.every((axis, i) => axis === i);
}

interface Link<T> {
  readonly parent: T;
  /** Axis i of the item is axis `perm[i]` of its parent. */
  readonly perm: Permutation;
}

/** Tensors of one rank whose axes correspond, and how (union-find with permutations). */
export class AxisClasses<T> {
  readonly #links = new Map<T, Link<T>>();

  /** The representative of an item, and which of its axes each axis of the item is. */
  find(item: T, rank: number): { readonly root: T; readonly layout: Permutation } {
    const path: [T, Permutation][] = [];
    let root = item;
    for (let link = this.#links.get(root); link !== undefined; link = this.#links.get(root)) {
      path.push([root, link.perm]);
      root = link.parent;
    }
    let layout = identity(rank);
    for (const [below, perm] of path.toReversed()) {
      layout = permuted(layout, perm);
      this.#links.set(below, { parent: root, perm: layout });
    }
    return { root, layout };
  }

  /** Says that axis i of `b` is axis `perm[i]` of `a`. Returns false if it is known to be another one. */
  unite(a: T, b: T, perm: Permutation): boolean {
    const [left, right] = [this.find(a, perm.length), this.find(b, perm.length)];
    const wanted = permuted(left.layout, perm);
    if (left.root === right.root) return right.layout.every((axis, i) => axis === wanted[i]);
    const inRoot = between(right.layout, identity(perm.length));
    this.#links.set(right.root, { parent: left.root, perm: permuted(wanted, inRoot) });
    return true;
  }
}
