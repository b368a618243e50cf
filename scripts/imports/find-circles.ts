/**
 * Groups of nodes that reach each other, each in the order of the graph: the strongly connected
 * components of more than one node (R. Tarjan, "Depth-first search and linear graph algorithms", 1972),
 * and nodes with an arrow to themselves.
 */
export function findCircles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    let low = own;
    index.set(node, own);
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, index.get(next) ?? low);
    }
    if (low < own) return low;
    const group = new Set(open.splice(open.indexOf(node)));
    const isCircle = group.size > 1 || graph.get(node)?.has(node) === true;
    if (isCircle) circles.push([...graph.keys()].filter((member) => group.has(member)));
    return low;
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles;
}
