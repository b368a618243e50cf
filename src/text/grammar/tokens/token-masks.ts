import { type Automaton, DEAD } from '../automaton/automaton.ts';
import { orInto, setBit, setBits } from './bit-mask.ts';
import {
  type Configuration,
  type Configurations,
  inRule,
  EMPTY_STACK,
  Stacks,
  UNKNOWN_STACK,
} from '../automaton/configuration.ts';
import { CountedTokens, TokenWalk } from './token-walk.ts';
import type { Vocabulary } from './vocabulary.ts';

interface StateTokens {
  /** Tokens that are allowed whatever the stack is. */
  readonly tokens: {
    addTo(mask: Uint32Array, configuration: Configuration, isEmpty: boolean): void;
  };
  /** Nodes at which the rule of the state may end; tokens below them depend on the stack. */
  readonly exits: readonly number[];
  /** For each exit, the units that began since the state if the rule is a counted one. */
  readonly exitUnits: readonly number[];
}

/** Nodes that are visited to prepare masks when a grammar is compiled; about 100 ms. */
const PREPARED_VISIT_COUNT = 8_000_000;
/** A state that visits fewer nodes gets its tokens when it is reached. */
const SMALL_VISIT_COUNT = 5_000;
/** Bytes of masks that are prepared. */
const PREPARED_BYTES = 2 ** 25;

/** The tokens that each state of an automaton allows, found when they are first needed and kept. */
export class TokenMasks {
  readonly #states: (StateTokens | undefined)[] = [];

  readonly #automaton: Automaton;
  readonly #vocabulary: Vocabulary;

  constructor(automaton: Automaton, vocabulary: Vocabulary) {
    this.#automaton = automaton;
    this.#vocabulary = vocabulary;
  }

  /** Finds the tokens of the states for which that takes longest. */
  prepare(): void {
    const nodeCounts = firstByteNodeCounts(this.#vocabulary);
    const { stateCount, classCount, classOf, next } = this.#automaton;
    const states: { state: number; cost: number }[] = [];
    for (let state = 1; state < stateCount; state++) {
      const cost = nodeCounts.reduce((sum, count, byte) => {
        const target = next[state * classCount + (classOf[byte] ?? 0)];
        return target === DEAD ? sum : sum + count;
      }, 0);
      if (cost > SMALL_VISIT_COUNT) states.push({ state, cost });
    }
    states.sort((a, b) => b.cost - a.cost);
    let visitCount = 0;
    const most = PREPARED_BYTES / (4 * this.#vocabulary.maskLength + 1);
    for (const { state } of states.slice(0, most)) {
      visitCount += this.#find(state).visitCount;
      if (visitCount > PREPARED_VISIT_COUNT) return;
    }
  }

  /** Sets the bits of all tokens that may follow in a mask that is empty. */
  fill(mask: Uint32Array, { list }: Configurations, stacks: Stacks): void {
    for (const configuration of list) {
      const { state, stack, missing, remaining } = configuration;
      const { tokens, exits, exitUnits } = this.#states[state] ?? this.#find(state).found;
      tokens.addTo(mask, configuration, configuration === list[0]);
      if (stack === EMPTY_STACK || exits.length === 0) continue;
      const walk = new TokenWalk(this.#automaton, this.#vocabulary, { stacks, mask });
      const after = inRule(stacks.top(stack), stacks.below(stack));
      for (const [i, node] of exits.entries()) {
        const unitCount = exitUnits[i] ?? 0;
        if (unitCount >= missing && unitCount <= remaining) walk.fromNode(node, after);
      }
    }
  }

  #find(state: number): { found: StateTokens; visitCount: number } {
    const mask = new Uint32Array(this.#vocabulary.maskLength);
    const counted =
      this.#automaton.counting[state] === 0 ? undefined : new CountedTokens(mask.length);
    const walk = new TokenWalk(this.#automaton, this.#vocabulary, {
      stacks: new Stacks(),
      mask,
      counted,
    });
    walk.fromRoot(inRule(state, UNKNOWN_STACK));
    const found: StateTokens = {
      tokens: counted ?? plainTokens(mask),
      exits: [...walk.exits.keys()],
      exitUnits: [...walk.exits.values()],
    };
    this.#states[state] = found;
    return { found, visitCount: walk.visitCount };
  }
}

/** A mask, or a list where it would be almost empty. */
function plainTokens(mask: Uint32Array): StateTokens['tokens'] {
  const ids = setBits(mask);
  if (ids.length >= mask.length / 2) {
    return { addTo: (into, _, isEmpty) => orInto(into, mask, isEmpty) };
  }
  return {
    addTo: (into) => {
      for (const id of ids) setBit(into, id);
    },
  };
}

/** For each byte, the number of trie nodes of the tokens that begin with it. */
function firstByteNodeCounts({ nodeCount, skip, byte }: Vocabulary): number[] {
  const counts = new Array<number>(256).fill(0);
  for (let node = 1; node < nodeCount; node = skip[node] ?? nodeCount) {
    counts[byte[node] ?? 0] = (skip[node] ?? nodeCount) - node;
  }
  return counts;
}
