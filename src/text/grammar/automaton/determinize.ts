import { CompileLimitError, internalError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import type { NfaState, RuleCall, RuleNfa } from './byte-nfa.ts';

/** A state of a deterministic automaton, which may also wait for rules to be read. */
export interface DfaState {
  /** Bytes from `first` to `last` lead to `target`; the ranges are in order and do not overlap. */
  readonly bytes: { readonly first: number; readonly last: number; readonly target: number }[];
  readonly calls: (RuleCall & { readonly target: number })[];
  /** True if the rule may end here. */
  readonly isAccepting: boolean;
}

/** The automaton of one rule; state 0 is its start, where it never ends. */
type RuleDfa = readonly DfaState[];

/** Sets of states that all rules of a grammar together may need, by the states in them. */
interface DeterminizeBudget {
  remaining: number;
}

export const MAX_SUBSET_SIZES = 400_000;

/**
 * The subset construction. A call of a rule is a symbol like a byte. Throws CompileLimitError when
 * the budget is spent, as with (a|b)*a(a|b){30}, whose automaton remembers thirty letters.
 */
export function determinize(nfa: RuleNfa, budget: DeterminizeBudget): RuleDfa {
  return new Subsets(nfa, budget).run();
}

class Subsets {
  readonly #dfa: DfaState[] = [];
  readonly #indices = new Map<string, number>();
  /** The sets of the states of the DFA, those without their successors at the end. */
  readonly #sets: (readonly number[])[] = [];
  readonly #marks: Int32Array;
  #mark = 0;

  readonly #nfa: RuleNfa;
  readonly #budget: DeterminizeBudget;

  constructor(nfa: RuleNfa, budget: DeterminizeBudget) {
    this.#nfa = nfa;
    this.#budget = budget;
    this.#marks = new Int32Array(nfa.states.length);
  }

  run(): RuleDfa {
    const start = this.#closure([this.#nfa.start]);
    this.#addState(start, false);
    // A rule that may be empty is stepped over where it is called; its start is a state of its own.
    if (!start.includes(this.#nfa.end)) this.#indices.set(start.join(), 0);
    for (let index = 0; index < this.#sets.length; index++) this.#expand(index);
    return this.#dfa;
  }

  #expand(index: number): void {
    const set = (this.#sets[index] ?? []).map((state) => this.#state(state));
    const edges = set.flatMap(({ bytes }) => bytes);
    const cuts = [...new Set(edges.flatMap(({ range: [first, last] }) => [first, last + 1]))];
    cuts.sort((a, b) => a - b);
    const places = new Map(cuts.map((cut, i) => [cut, i]));
    const targetsAt: number[][] = cuts.map(() => []);
    for (const { range, target } of edges) {
      const [start = 0, end = 0] = [places.get(range[0]), places.get(range[1] + 1)];
      countWork(1 + end - start);
      for (let i = start; i < end; i++) targetsAt[i]?.push(target);
    }
    const { bytes, calls } = this.#dfa[index] ?? newState(false);
    for (const [i, first] of cuts.entries()) {
      const last = (cuts[i + 1] ?? 256) - 1;
      const targets = targetsAt[i] ?? [];
      if (targets.length === 0) continue;
      const target = this.#intern(targets);
      const previous = bytes.at(-1);
      if (previous?.target === target && previous.last === first - 1) {
        bytes[bytes.length - 1] = { ...previous, last };
      } else {
        bytes.push({ first, last, target });
      }
    }
    const byCall = new Map<string, RuleCall & { readonly targets: number[] }>();
    for (const { target, ...call } of set.flatMap(({ calls }) => calls)) {
      countWork();
      const key = `${call.rule} ${call.min} ${call.max}`;
      const known = byCall.get(key);
      if (known === undefined) byCall.set(key, { ...call, targets: [target] });
      else known.targets.push(target);
    }
    for (const { targets, ...call } of byCall.values()) {
      calls.push({ ...call, target: this.#intern(targets) });
    }
  }

  #intern(targets: readonly number[]): number {
    const set = this.#closure(targets);
    const key = set.join();
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    const index = this.#addState(set, set.includes(this.#nfa.end));
    this.#indices.set(key, index);
    return index;
  }

  #addState(set: readonly number[], isAccepting: boolean): number {
    this.#sets.push(set);
    return this.#dfa.push(newState(isAccepting)) - 1;
  }

  /** The states that are reached from others without reading, in order. */
  #closure(states: readonly number[]): number[] {
    const mark = ++this.#mark;
    const closed: number[] = [];
    const add = (state: number): void => {
      if (this.#marks[state] === mark) return;
      this.#marks[state] = mark;
      closed.push(state);
    };
    for (const state of states) add(state);
    for (let i = 0; i < closed.length; i++) {
      const { free } = this.#state(closed[i] ?? 0);
      countWork(1 + free.length);
      for (const next of free) add(next);
    }
    this.#spend(closed.length);
    // States that neither read nor end make no difference, and would keep equal sets apart.
    const reading = closed.filter((index) => {
      const { bytes, calls } = this.#state(index);
      return bytes.length > 0 || calls.length > 0 || index === this.#nfa.end;
    });
    return reading.sort((a, b) => a - b);
  }

  #spend(count: number): void {
    this.#budget.remaining -= count;
    if (this.#budget.remaining >= 0) return;
    throw new CompileLimitError({
      where: this.#nfa.where,
      got: `sets of more than ${MAX_SUBSET_SIZES} states`,
      expected: 'at most so many',
      remedy: 'Use smaller numbers of repetitions, and none whose ends the text leaves open.',
    });
  }

  #state(index: number): NfaState {
    const state = this.#nfa.states[index];
    if (state === undefined) throw internalError(`no state ${index}`);
    return state;
  }
}

function newState(isAccepting: boolean): DfaState {
  return { bytes: [], calls: [], isAccepting };
}
