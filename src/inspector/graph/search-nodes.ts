import type { GraphNode } from '../program/program-graph.ts';

export interface FoundName {
  readonly text: string;
  /** Their numbers, in the order of the program. */
  readonly nodes: readonly number[];
}

/** How well a text answers a word: with a whole part of it, with the beginning of one, or from within. */
const WHOLE = 2;
const BEGINNING = 1;
const WITHIN = 0;
const NOT = -1;

/** Characters between the parts of a name. */
const SEPARATORS = '/. :"';

/**
 * Nodes that have all words of a query in their names, operators, kernels or places, each name once. Those with the words
 * as whole parts come first, `layers.1` before `layers.10`, then those with parts that begin so, then all others.
 */
export function searchNodes(nodes: readonly GraphNode[], query: string): readonly FoundName[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const byName = new Map<string, { text: string; rank: number; nodes: number[] }>();
  for (const [number, node] of nodes.entries()) {
    const text = searchText(node);
    const rank = Math.min(...words.map((word) => rankOf(text, word)));
    if (rank === NOT) continue;
    const name = fullName(node);
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { text: name, rank, nodes: [number] });
    else {
      known.nodes.push(number);
      known.rank = Math.max(known.rank, rank);
    }
  }
  return [...byName.values()].toSorted((a, b) => b.rank - a.rank);
}

/** The label within its scopes, with what is called. */
function fullName({ kind, label, name, scope }: GraphNode): string {
  const path = [...scope, label].join('/');
  return label === name || kind === 'result' ? path : `${path} (${name})`;
}

function rankOf(text: string, word: string): number {
  let best = NOT;
  for (let at = text.indexOf(word); at >= 0 && best < WHOLE; at = text.indexOf(word, at + 1)) {
    const begins = isBorder(text, at - 1) || SEPARATORS.includes(word[0] ?? '');
    const rank = !begins ? WITHIN : isBorder(text, at + word.length) ? WHOLE : BEGINNING;
    best = Math.max(best, rank);
  }
  return best;
}

const isBorder = (text: string, at: number): boolean =>
  at < 0 || at >= text.length || SEPARATORS.includes(text[at] ?? '');

function searchText({ label, name, operators, places }: GraphNode): string {
  return [label, name, ...operators, ...places.map(({ source }) => source)].join(' ').toLowerCase();
}
