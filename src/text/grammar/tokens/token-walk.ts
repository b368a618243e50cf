import { countWork } from '../../../core/limits/work-meter.ts';
import { type Automaton, DEAD, UNIT_START } from '../automaton/automaton.ts';
import { setBit, clearBit, orInto } from './bit-mask.ts';
import {
  type Configuration,
  inRule,
  EMPTY_STACK,
  MAX_STACK_COUNT,
  type Stacks,
  UNKNOWN_STACK,
} from '../automaton/configuration.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A node of a vocabulary's trie, and where the automaton is after its bytes. */
interface Task {
  readonly node: number;
  readonly configuration: Configuration;
}

/** The stacks of a walk, and where it puts the tokens it finds. */
interface WalkOptions {
  readonly stacks: Stacks;
  /** Gets the bits of the tokens that are found, beside those it has. */
  readonly mask: Uint32Array;
  /** Gets them instead, where the walk begins in a counted rule with an unknown stack. */
  readonly counted?: CountedTokens | undefined;
}

const MAX_STATE_COUNT = 1 << 16;

/** Finds the tokens that an automaton allows, by walking over the trie of a vocabulary. */
export class TokenWalk {
  /**
   * Nodes below which tokens go on after the end of a rule with an unknown stack, and how many units
   * the rule had if it is a counted one.
   */
  readonly exits = new Map<number, number>();
  /** Nodes that were visited, as a measure of time. */
  visitCount = 0;
  readonly #stateAt: Uint16Array;
  readonly #usedAt: Uint16Array;
  readonly #tasks: Task[] = [];
  /** Tasks that need not be done again, because an ambiguous grammar leads to them twice. */
  readonly #seen = new Set<number>();

  readonly #automaton: Automaton;
  readonly #vocabulary: Vocabulary;
  readonly #options: WalkOptions;

  constructor(automaton: Automaton, vocabulary: Vocabulary, options: WalkOptions) {
    this.#automaton = automaton;
    this.#vocabulary = vocabulary;
    this.#options = options;
    this.#stateAt = new Uint16Array(vocabulary.maxDepth + 1);
    this.#usedAt = new Uint16Array(vocabulary.maxDepth + 1);
  }

  /** Finds the tokens that begin with a byte that a configuration reads. */
  fromRoot(configuration: Configuration): void {
    this.#read(0, configuration);
    this.#runTasks();
  }

  /** Finds the tokens below a node. There, rules may end and start before a byte is read. */
  fromNode(node: number, configuration: Configuration): void {
    this.#tasks.push({ node, configuration });
    this.#runTasks();
  }

  #runTasks(): void {
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) {
      const { node, configuration } = task;
      this.#branch(node, configuration.state, configuration.stack);
      this.#read(node, configuration);
    }
  }

  #read(node: number, configuration: Configuration): void {
    if (this.#automaton.counting[configuration.state] === 0) {
      this.#readPlain(node, configuration.state, configuration.stack);
    } else {
      this.#readCounted(node, configuration);
    }
  }

  /** Goes on with rules that end or start at a node. */
  #branch(node: number, state: number, stack: number, used = 0): void {
    if (this.#automaton.branching[state] === 0) return;
    const { stacks } = this.#options;
    for (const { start, next, min, max } of this.#automaton.calls[state] ?? []) {
      const called = next === DEAD ? stack : stacks.push(stack, next);
      this.#addTask(node, { state: start, stack: called, missing: min, remaining: max });
    }
    if (this.#automaton.accepting[state] === 0 || stack === EMPTY_STACK) return;
    if (stack === UNKNOWN_STACK) this.exits.set(node, used);
    else this.#addTask(node, inRule(stacks.top(stack), stacks.below(stack)));
  }

  #addTask(node: number, configuration: Configuration): void {
    countWork(8);
    const { state, stack } = configuration;
    // Counted rules read alike with different counts, but not the same tokens.
    if (this.#automaton.counting[state] === 0) {
      const key = (node * MAX_STATE_COUNT + state) * MAX_STACK_COUNT + stack;
      if (this.#seen.has(key)) return;
      this.#seen.add(key);
    }
    this.#tasks.push({ node, configuration });
  }

  /** Reads bytes within a rule that is not counted. */
  #readPlain(node: number, state: number, stack: number): void {
    const { classOf, classCount, next, branching } = this.#automaton;
    const { byte, depth, skip, token } = this.#vocabulary;
    const stateAt = this.#stateAt;
    const end = skip[node] ?? 0;
    stateAt[depth[node] ?? 0] = state;
    let visitCount = 0;
    for (let at = node + 1; at < end; visitCount++) {
      const length = depth[at] ?? 0;
      const row = (stateAt[length - 1] ?? 0) * classCount;
      const target = next[row + (classOf[byte[at] ?? 0] ?? 0)] ?? DEAD;
      const after = skip[at] ?? end;
      if (target === DEAD) {
        at = after;
        continue;
      }
      stateAt[length] = target;
      const id = token[at] ?? -1;
      if (id >= 0) this.#allow(id);
      if (branching[target] === 1 && after > at + 1) this.#branch(at, target, stack);
      at++;
    }
    this.#countVisits(visitCount);
  }

  /** Reads bytes within a counted rule; a node is left out if the units of its prefix do not fit. */
  #readCounted(node: number, { state, stack, missing, remaining }: Configuration): void {
    const { classOf, classCount, next, accepting, counting } = this.#automaton;
    const { byte, depth, skip, token } = this.#vocabulary;
    const stateAt = this.#stateAt;
    const usedAt = this.#usedAt;
    const end = skip[node] ?? 0;
    stateAt[depth[node] ?? 0] = state;
    usedAt[depth[node] ?? 0] = 0;
    let visitCount = 0;
    for (let at = node + 1; at < end; visitCount++) {
      const length = depth[at] ?? 0;
      const before = stateAt[length - 1] ?? 0;
      const target = next[before * classCount + (classOf[byte[at] ?? 0] ?? 0)] ?? DEAD;
      const after = skip[at] ?? end;
      let used = usedAt[length - 1] ?? 0;
      const hasEnded = accepting[target] === 1;
      if (counting[before] === UNIT_START && !hasEnded) used++;
      if (target === DEAD || used > remaining || (hasEnded && used < missing)) {
        at = after;
        continue;
      }
      stateAt[length] = target;
      usedAt[length] = used;
      const id = token[at] ?? -1;
      if (id >= 0) this.#allow(id, used, hasEnded);
      if (!hasEnded) {
        at++;
        continue;
      }
      if (after > at + 1) this.#branch(at, target, stack, used);
      at = after;
    }
    this.#countVisits(visitCount);
  }

  #countVisits(count: number): void {
    countWork(count / 4);
    this.visitCount += count;
  }

  #allow(first: number, used = 0, hasEnded = false): void {
    const { sameBytes } = this.#vocabulary;
    const { mask, counted } = this.#options;
    for (let id = first; id >= 0; id = sameBytes[id] ?? -1) {
      if (counted === undefined) setBit(mask, id);
      else counted.add(id, used, hasEnded);
    }
  }
}

/** Tokens by the number of units of a counted rule that begin in them. */
type TokensByUnits = number[][];

/** Up to this number of units, there is a mask of the tokens that begin no more. */
const MASK_COUNT = 16;

/**
 * Tokens that a state of a counted rule allows. The state is the same whatever the bounds are and
 * however many units were read, so they are found once, and chosen by their number of units.
 */
export class CountedTokens {
  readonly #all: TokensByUnits = [];
  /** Those of them that reach the end of the rule. */
  readonly #ended: TokensByUnits = [];
  /** For each n, the tokens that begin at most n units; the last mask has all tokens. */
  #masks: readonly Uint32Array[] = [];
  readonly #scratch: Uint32Array;

  readonly #maskLength: number;

  constructor(maskLength: number) {
    this.#maskLength = maskLength;
    this.#scratch = new Uint32Array(maskLength);
  }

  add(id: number, unitCount: number, hasEnded: boolean): void {
    (this.#all[unitCount] ??= []).push(id);
    if (hasEnded) (this.#ended[unitCount] ??= []).push(id);
  }

  /** Sets the bits of the tokens that the numbers of a configuration allow. */
  addTo(mask: Uint32Array, { missing, remaining }: Configuration, isEmpty: boolean): void {
    if (this.#masks.length === 0) this.#masks = this.#makeMasks();
    const tokens = this.#masks[Math.min(remaining, MASK_COUNT)] ?? this.#scratch;
    if (missing === 0 && remaining >= this.#all.length - 1) {
      orInto(mask, this.#masks[MASK_COUNT] ?? tokens, isEmpty);
      return;
    }
    this.#scratch.set(tokens);
    if (remaining >= MASK_COUNT) this.#clear(this.#all.slice(remaining + 1));
    this.#clear(this.#ended.slice(0, missing));
    orInto(mask, this.#scratch, isEmpty);
  }

  #clear(tokens: TokensByUnits): void {
    for (const ids of tokens) for (const id of ids ?? []) clearBit(this.#scratch, id);
  }

  #makeMasks(): Uint32Array[] {
    const mask = new Uint32Array(this.#maskLength);
    const masks: Uint32Array[] = [];
    for (let count = 0; count < Math.max(MASK_COUNT, this.#all.length); count++) {
      for (const id of this.#all[count] ?? []) setBit(mask, id);
      if (count < MASK_COUNT) masks.push(mask.slice());
    }
    return [...masks, mask];
  }
}
