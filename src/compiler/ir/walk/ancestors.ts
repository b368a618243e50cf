/** A node of a forest that knows the way to its root. */
export interface AncestorNode<N> {
  readonly parent: N | undefined;
  readonly depth: number;
  /** An ancestor further up, so that any is found in logarithmic time (Myers 1983). */
  readonly jump: N | undefined;
}

/** The links of a new node with this parent. */
export function below<N extends AncestorNode<N>>(parent: N | undefined): AncestorNode<N> {
  if (parent === undefined) return { parent, depth: 0, jump: undefined };
  return { parent, depth: parent.depth + 1, jump: jumpFrom(parent) };
}

/** The ancestor that the jump of a node with this parent leads to. */
function jumpFrom<N extends AncestorNode<N>>(parent: N): N {
  const { jump } = parent;
  const further = jump?.jump;
  if (jump === undefined || further === undefined) return parent;
  return parent.depth - jump.depth === jump.depth - further.depth ? further : parent;
}

/** The lowest node that has both below it or is one of them; undefined for nodes of two trees. */
export function commonAncestor<N extends AncestorNode<N>>(a: N, b: N): N | undefined {
  let left = ancestorAt(a, b.depth);
  let right = ancestorAt(b, a.depth);
  while (left !== right) {
    const isCommonBeyond = left.jump === right.jump;
    const nextLeft = isCommonBeyond ? left.parent : left.jump;
    const nextRight = isCommonBeyond ? right.parent : right.jump;
    if (nextLeft === undefined || nextRight === undefined) return undefined;
    left = nextLeft;
    right = nextRight;
  }
  return left;
}

/** The ancestor of a node, or the node itself, that is no deeper than `depth`. */
export function ancestorAt<N extends AncestorNode<N>>(node: N, depth: number): N {
  let current = node;
  while (current.depth > depth) {
    const { jump, parent } = current;
    const next = jump !== undefined && jump.depth >= depth ? jump : parent;
    if (next === undefined) break;
    current = next;
  }
  return current;
}
