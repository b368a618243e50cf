import type { CodePointSet } from '../languages/code-points.ts';
import { type Expression, type Graph, repeat, type Rules, rule, text } from '../expression.ts';

/** The unread parts of a text, the next one first. Equal rests are one object. */
type Rest = { readonly part: Part; readonly after: Rest } | undefined;

type Part =
  | Expression
  | { readonly kind: 'bytes'; readonly bytes: readonly number[] }
  /** A graph of which a place is reached. */
  | { readonly kind: 'place'; readonly graph: Graph; readonly place: number }
  /** A character of which some bytes were read. */
  | { readonly kind: 'cut'; readonly set: CodePointSet; readonly read: readonly number[] };

/**
 * Reads texts of a grammar byte by byte, by rewriting what is still to be read: slow, without automata,
 * and written apart from them. Every rule has to have a text.
 */
export class SlowMatcher {
  readonly #grammar: Rewriting;
  readonly #heads: readonly Rest[];

  private constructor(grammar: Rewriting, rests: Iterable<Rest>) {
    this.#grammar = grammar;
    this.#heads = grammar.headsOf(rests);
  }

  static start(rules: Rules): SlowMatcher {
    const grammar = new Rewriting(rules);
    return new SlowMatcher(grammar, [grammar.prepend([rule(rules.root)], undefined)]);
  }

  get isComplete(): boolean {
    return this.#heads.includes(undefined);
  }

  /** The matcher after one more byte, or undefined if no text goes on with it. */
  read(byte: number): SlowMatcher | undefined {
    const next = new Set<Rest>();
    for (const head of this.#heads) {
      const after = head === undefined ? undefined : this.#grammar.read(head.part, byte);
      if (head !== undefined && after !== undefined)
        next.add(this.#grammar.prepend(after, head.after));
    }
    return next.size === 0 ? undefined : new SlowMatcher(this.#grammar, next);
  }
}

/** Rewrites parts, each once, so that equal rests are one object. */
class Rewriting {
  readonly #rules: Rules;
  readonly #rewritten = new Map<Part, Part[][] | undefined>();
  readonly #afterByte = new Map<Part, Map<number, Part[] | undefined>>();
  readonly #rests = new Map<Rest, Map<Part, Rest>>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  prepend(parts: readonly Part[], rest: Rest): Rest {
    return parts.reduceRight<Rest>((after, part) => {
      const known = getOrAdd(this.#rests, after, () => new Map<Part, Rest>());
      return getOrAdd(known, part, () => ({ part, after }));
    }, rest);
  }

  /** Rests that begin with a byte or a character, or that are empty. */
  headsOf(rests: Iterable<Rest>): Rest[] {
    const pending = new Set(rests);
    const heads: Rest[] = [];
    // The set grows while it is walked.
    for (const rest of pending) {
      const ways =
        rest && getOrAdd(this.#rewritten, rest.part, () => rewrite(rest.part, this.#rules));
      if (rest === undefined || ways === undefined) heads.push(rest);
      else for (const parts of ways) pending.add(this.prepend(parts, rest.after));
    }
    return heads;
  }

  /** The rest of a part after a byte, or undefined if it does not fit. */
  read(part: Part, byte: number): Part[] | undefined {
    const known = getOrAdd(this.#afterByte, part, () => new Map<number, Part[] | undefined>());
    return getOrAdd(known, byte, () => readPart(part, byte));
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined || map.has(key)) return known as V;
  const made = make();
  map.set(key, made);
  return made;
}

/** The ways to go on with a part, or undefined if it reads a byte. */
function rewrite(part: Part, rules: Rules): Part[][] | undefined {
  switch (part.kind) {
    case 'character':
    case 'cut':
      return undefined;
    case 'bytes':
      return part.bytes.length === 0 ? [[]] : undefined;
    case 'text':
      return [[{ kind: 'bytes', bytes: [...new TextEncoder().encode(part.text)] }]];
    case 'sequence':
      return [[...part.parts]];
    case 'choice':
      return part.options.map((option) => [option]);
    case 'rule':
      return [[rules.rules.get(part.name) ?? text('')]];
    case 'counted':
      return [[repeat(part.unit, part.min, part.max), text(part.end)]];
    case 'repeat': {
      const { body, min, max } = part;
      if (max === 0) return [[]];
      const isUnchanged = min === 0 && max === Number.POSITIVE_INFINITY;
      const more = [body, isUnchanged ? part : repeat(body, Math.max(0, min - 1), max - 1)];
      return min > 0 ? [more] : [[], more];
    }
    case 'graph':
      return [[placeOf(part, 0)]];
    case 'place': {
      const { graph, place } = part;
      const edges = graph.edges.filter(({ from }) => from === place);
      const ways = edges.map(({ to, body }): Part[] => [body, placeOf(graph, to)]);
      return place === graph.end ? [[], ...ways] : ways;
    }
    default:
      return part satisfies never;
  }
}

const PLACES = new WeakMap<Graph, Map<number, Part>>();

/** The same object for the same place. */
function placeOf(graph: Graph, place: number): Part {
  const places = PLACES.get(graph) ?? new Map<number, Part>();
  PLACES.set(graph, places);
  return getOrAdd(places, place, () => ({ kind: 'place', graph, place }));
}

function readPart(part: Part, byte: number): Part[] | undefined {
  if (part.kind === 'bytes') {
    const [first, ...bytes] = part.bytes;
    return first === byte ? [{ kind: 'bytes', bytes }] : undefined;
  }
  if (part.kind !== 'character' && part.kind !== 'cut') return undefined;
  const { set } = part;
  const read = [...(part.kind === 'cut' ? part.read : []), byte];
  const [lead = 0] = read;
  // Bytes that begin no character.
  if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4) return undefined;
  const length = lengthOf(lead);
  const filled = (filler: number): number =>
    decode([...read, ...new Array<number>(Math.max(0, length - read.length)).fill(filler)]);
  const isStart = set.some(([first, last]) =>
    someCharacter(Math.max(first, filled(0x80)), Math.min(last, filled(0xbf)), read),
  );
  if (!isStart) return undefined;
  return read.length < length ? [{ kind: 'cut', set, read }] : [];
}

function lengthOf(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** The code point of bytes that are taken for UTF-8. */
function decode(bytes: readonly number[]): number {
  const [lead = 0, ...rest] = bytes;
  if (bytes.length === 1) return lead;
  return rest.reduce((point, byte) => (point << 6) | (byte & 0x3f), lead & (0x7f >> bytes.length));
}

/** The bytes of some code point between two begin with others. */
function someCharacter(first: number, last: number, read: readonly number[]): boolean {
  for (let point = first; point <= Math.min(last, 0x10ffff); point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const bytes = new TextEncoder().encode(String.fromCodePoint(point));
    if (read.every((byte, i) => bytes[i] === byte)) return true;
  }
  return false;
}
