import { CompileLimitError } from '../../core/errors.ts';
import { countWork } from '../../core/limits/work-meter.ts';
import { EMPTY, type Graph, type GraphEdge, text } from './expression.ts';

interface Node {
  /** Closed nodes by the characters that lead to them. */
  readonly next: Map<string, number>;
  readonly character: string;
  isEnd: boolean;
}

/** An automaton has no more states, so no graph with more places fits. */
const MAX_PLACE_COUNT = 0xffff;
const END = 1;

/**
 * Any of some texts, as the smallest graph: their common begins and ends are there once (Daciuk et al.,
 * Incremental construction of minimal acyclic finite-state automata, 2000). It takes time by their letters.
 *
 * Throws CompileLimitError with the place for texts that need too many states.
 */
export function oneOfTexts(texts: readonly string[], where: string): Graph {
  const edges: GraphEdge[] = [];
  const places = new Map<string, number>();
  /** The nodes of the last text, to which the next one may add. */
  const path: Node[] = [{ next: new Map(), character: '', isEnd: false }];
  const addEdges = ({ next, isEnd }: Node, from: number): void => {
    for (const [character, to] of next) edges.push({ from, to, body: text(character) });
    if (isEnd) edges.push({ from, to: END, body: EMPTY });
  };
  const closeBehind = (length: number): void => {
    while (path.length > length + 1) {
      const node = path.pop();
      if (node === undefined) return;
      const key = Array.from(node.next, ([character, to]) => `${character}${to} `).join('');
      const name = node.isEnd ? `${key}.` : key;
      const place = places.get(name) ?? places.size + END + 1;
      if (!places.has(name)) addEdges(node, place);
      places.set(name, place);
      path.at(-1)?.next.set(node.character, place);
    }
  };
  // Equal begins are adjacent, once halves of characters are what UTF-8 makes of them.
  for (const one of texts.map((own) => own.replace(/\p{Cs}/gu, '\ufffd')).toSorted()) {
    countWork(1 + one.length);
    let length = 0;
    let isShared = true;
    for (const character of one) {
      isShared &&= path[length + 1]?.character === character;
      if (!isShared && path.length > length + 1) closeBehind(length);
      if (!isShared) path.push({ next: new Map(), character, isEnd: false });
      length++;
      if (places.size + length > MAX_PLACE_COUNT) throw tooMany(texts.length, where);
    }
    const last = path[length];
    if (last !== undefined) last.isEnd = true;
  }
  closeBehind(0);
  for (const root of path) addEdges(root, 0);
  // Edges lead from each place to ones that are closed before it.
  return { kind: 'graph', edges: edges.reverse(), end: END };
}

function tooMany(count: number, where: string): CompileLimitError {
  return new CompileLimitError({
    where,
    got: `${count} texts of more than ${MAX_PLACE_COUNT} states together`,
    expected: 'at most so many',
    remedy: 'Use fewer or shorter texts, or a pattern that they have.',
  });
}
