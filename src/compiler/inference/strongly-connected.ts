/**
 * The strongly connected components of a graph, each after those it refers to (Tarjan, 1972).
 * Iterative. Deterministic: nodes and references are taken in the order given.
 */
export function stronglyConnected<T>(
  nodes: Iterable<T>,
  references: (node: T) => readonly T[],
): T[][] {
  const components: T[][] = [];
  const states = new Map<T, State<T>>();
  const open: State<T>[] = [];
  const enter = (node: T): State<T> => {
    const index = states.size;
    const state = { node, index, low: index, isOpen: true, references: references(node), next: 0 };
    states.set(node, state);
    open.push(state);
    return state;
  };
  for (const root of nodes) {
    if (states.has(root)) continue;
    const stack = [enter(root)];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const target = top.references[top.next++];
      if (target === undefined) {
        stack.pop();
        const parent = stack.at(-1);
        if (parent !== undefined) parent.low = Math.min(parent.low, top.low);
        if (top.low === top.index) components.push(close(open, top));
        continue;
      }
      const known = states.get(target);
      if (known === undefined) stack.push(enter(target));
      else if (known.isOpen) top.low = Math.min(top.low, known.index);
    }
  }
  return components;
}

interface State<T> {
  readonly node: T;
  readonly index: number;
  low: number;
  isOpen: boolean;
  readonly references: readonly T[];
  next: number;
}

function close<T>(open: State<T>[], root: State<T>): T[] {
  const members = open.splice(open.indexOf(root));
  for (const member of members) member.isOpen = false;
  return members.map(({ node }) => node);
}
