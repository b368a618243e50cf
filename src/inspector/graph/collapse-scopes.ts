import type { GraphNode, ProgramGraph } from '../program/program-graph.ts';

/** A node, or a scope whose nodes are drawn as one. */
export interface ShownNode {
  readonly kind: GraphNode['kind'] | 'scope';
  readonly label: string;
  /** Below the label: operators, or how many nodes a scope has. */
  readonly note: string;
  /** The nodes of the graph that it stands for, by number. */
  readonly nodes: readonly number[];
  /** The key of a scope that is drawn as one: its parts joined by `/`. */
  readonly scope: string | undefined;
  readonly isOnHost: boolean;
}

/** The graph to lay out and draw: nodes, and edges between them by index. */
export interface ShownGraph {
  readonly nodes: readonly ShownNode[];
  readonly edges: readonly (readonly [from: number, to: number])[];
}

export const scopeKey = (parts: readonly string[]): string => parts.join('/');

/** The graph with each scope of `collapsed` (keys of {@link scopeKey}) drawn as one node. */
export function collapseScopes(
  { nodes, edges }: ProgramGraph,
  collapsed: ReadonlySet<string>,
): ShownGraph {
  const shown: ShownNode[] = [];
  const scopes = new Map<string, { readonly nodes: number[]; readonly place: number }>();
  const shownOf = nodes.map((node, number) => {
    const scope = outermost(node.scope, collapsed);
    if (scope === undefined) return shown.push(shownNode(node, number)) - 1;
    const known = scopes.get(scope);
    if (known !== undefined) {
      known.nodes.push(number);
      return known.place;
    }
    const members = [number];
    const place = shown.push(shownScope(scope, members)) - 1;
    scopes.set(scope, { nodes: members, place });
    return place;
  });
  const unique = new Map<string, readonly [number, number]>();
  for (const [from, to] of edges) {
    const [a = 0, b = 0] = [shownOf[from], shownOf[to]];
    if (a !== b) unique.set(`${a} ${b}`, [a, b]);
  }
  return { nodes: shown, edges: [...unique.values()] };
}

function outermost(parts: readonly string[], collapsed: ReadonlySet<string>): string | undefined {
  if (collapsed.size === 0) return undefined;
  for (let depth = 1; depth <= parts.length; depth++) {
    const key = scopeKey(parts.slice(0, depth));
    if (collapsed.has(key)) return key;
  }
  return undefined;
}

function shownNode(node: GraphNode, number: number): ShownNode {
  const { kind, label, operators, types, isOnHost } = node;
  const note = kind === 'kernel' ? operators.join(', ') : (types[0] ?? kind);
  return { kind, label, note, nodes: [number], scope: undefined, isOnHost };
}

function shownScope(scope: string, nodes: readonly number[]): ShownNode {
  const label = scope.slice(scope.lastIndexOf('/') + 1);
  return { kind: 'scope', label, note: scope, nodes, scope, isOnHost: false };
}

/** A scope and how many nodes lie in it. */
export interface Scope {
  readonly key: string;
  readonly depth: number;
  readonly nodeCount: number;
}

/** All scopes of a graph, each before those in it. */
export function scopesOf({ nodes }: ProgramGraph): readonly Scope[] {
  const counts = new Map<string, { depth: number; nodeCount: number }>();
  for (const { scope } of nodes) {
    for (let depth = 1; depth <= scope.length; depth++) {
      const key = scopeKey(scope.slice(0, depth));
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { depth, nodeCount: 1 });
      else known.nodeCount++;
    }
  }
  return [...counts].map(([key, rest]) => ({ key, ...rest }));
}
