import { CompileLimitError, UsageError, internalError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import { analyseRules } from './analyse-rules.ts';
import { countRepetitions } from './count-repetitions.ts';
import { NfaBuilder, type RuleCall, type NfaState, type RuleNfa } from './byte-nfa.ts';
import type { Rules } from '../expression.ts';
import { GrammarMeter } from '../grammar-meter.ts';

/** A state of a deterministic automaton, which may also wait for rules to be read. */
interface DfaState {
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

const MAX_SUBSET_SIZES = 400_000;

/**
 * The subset construction. A call of a rule is a symbol like a byte. Throws CompileLimitError when
 * the budget is spent, as with (a|b)*a(a|b){30}, whose automaton remembers thirty letters.
 */
function determinize(nfa: RuleNfa, budget: DeterminizeBudget): RuleDfa {
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

/** No state: what was read cannot become a text of the grammar. */
export const DEAD = 0;

/** A rule is read by going to its start, and from its end to the state that follows. */
interface Call extends Omit<RuleCall, 'rule'> {
  readonly start: number;
  /** The state after the rule, or DEAD if the calling rule can only end there. */
  readonly next: number;
}

/**
 * A pushdown automaton over bytes: deterministic automata of rules, which call each other. Each
 * state can still be completed to a text, so a byte is allowed exactly if it leads to a state.
 */
export interface Automaton {
  readonly start: number;
  readonly isEmptyAllowed: boolean;
  readonly stateCount: number;
  /** Bytes that no state tells apart have the same class. */
  readonly classOf: Uint8Array;
  readonly classCount: number;
  /** The state that follows, at `state * classCount + class`. */
  readonly next: Uint16Array;
  /** 1 where a byte can be read. */
  readonly reading: Uint8Array;
  /** 1 where the rule may end. */
  readonly accepting: Uint8Array;
  readonly calls: readonly (readonly Call[])[];
  /** 1 where more may happen than to read a byte: the rule may end, or call another one. */
  readonly branching: Uint8Array;
  /**
   * The states of counted rules, where the number of units matters: UNIT_START where a unit or the
   * end may follow, UNIT_INSIDE in all others.
   */
  readonly counting: Uint8Array;
}

export const UNIT_START = 1;
const UNIT_INSIDE = 2;

const MAX_STATE_COUNT = 0xffff;

/**
 * Throws UnsupportedError for left recursion, CompileLimitError for a grammar that needs more than
 * 65,535 states, and UsageError for one that no text can satisfy.
 */
export function buildAutomaton(written: Rules, meter = new GrammarMeter()): Automaton {
  meter.where = () => 'grammar';
  const rules = countRepetitions(written);
  const facts = analyseRules(rules);
  const nfas = new NfaBuilder(rules, facts);
  const budget = { remaining: MAX_SUBSET_SIZES };
  const starts: number[] = [];
  const states: DfaState[] = [];
  for (const nfa of nfas.buildAll()) {
    const offset = states.length;
    meter.where = () => nfa.where;
    starts.push(offset);
    for (const { bytes, calls, isAccepting } of determinize(nfa, budget)) {
      const move = <T extends { readonly target: number }>(edge: T): T => ({
        ...edge,
        target: edge.target + offset,
      });
      states.push({ bytes: bytes.map(move), calls: calls.map(move), isAccepting });
    }
    requireStateCount(states.length, nfa.where);
  }
  return pack({
    states,
    starts,
    countedStart: starts[facts.separate.length] ?? states.length,
    isEmptyAllowed: facts.nullable.has(rules.root),
  });
}

function requireStateCount(count: number, where: string): void {
  if (count < MAX_STATE_COUNT) return;
  throw new CompileLimitError({
    where,
    got: `${count} states`,
    expected: `less than ${MAX_STATE_COUNT}`,
    remedy: 'Use smaller numbers of repetitions, or * and +, which need one state.',
  });
}

interface UnpackedAutomaton {
  readonly states: readonly DfaState[];
  /** The first state of each rule. */
  readonly starts: readonly number[];
  /** The first state of counted rules, which are the last ones. */
  readonly countedStart: number;
  readonly isEmptyAllowed: boolean;
}

/** Numbers the states that can be completed from 1, and puts their edges into tables. */
function pack({ states, starts, countedStart, isEmptyAllowed }: UnpackedAutomaton): Automaton {
  const live = liveStates(states, starts);
  const numbers = new Map<number, number>();
  for (const index of states.keys()) if (live[index] === 1) numbers.set(index, numbers.size + 1);
  const numberOf = (index: number | undefined) => numbers.get(index ?? -1) ?? DEAD;
  const start = numberOf(starts[0]);
  if (start === DEAD && !isEmptyAllowed) {
    throw new UsageError({
      where: 'grammar',
      got: 'rules that no text can satisfy',
      expected: 'at least one text',
      remedy: 'Give each recursive rule an alternative that ends.',
    });
  }
  const { classOf, classCount } = byteClasses(states);
  const stateCount = numbers.size + 1;
  const next = new Uint16Array(stateCount * classCount);
  const reading = new Uint8Array(stateCount);
  const accepting = new Uint8Array(stateCount);
  const branching = new Uint8Array(stateCount);
  const counting = new Uint8Array(stateCount);
  const ruleStarts = new Set(starts);
  const calls: Call[][] = [[]];
  for (const [index, state] of numbers) {
    const source = states[index];
    if (source === undefined) continue;
    for (const { first, last, target } of source.bytes) {
      if (numberOf(target) === DEAD) continue;
      const row = state * classCount;
      next.fill(numberOf(target), row + (classOf[first] ?? 0), row + (classOf[last] ?? 0) + 1);
      reading[state] = 1;
    }
    calls[state] = source.calls
      .map(({ rule, min, max, target }) => {
        return { start: numberOf(starts[rule]), next: numberOf(target), min, max };
      })
      .filter(({ start, next }) => start !== DEAD && next !== DEAD);
    accepting[state] = source.isAccepting ? 1 : 0;
    branching[state] = source.isAccepting || calls[state].length > 0 ? 1 : 0;
    if (index >= countedStart) counting[state] = ruleStarts.has(index) ? UNIT_START : UNIT_INSIDE;
  }
  const canOnlyEnd = (state: number) =>
    accepting[state] === 1 && reading[state] === 0 && calls[state]?.length === 0;
  return {
    start,
    isEmptyAllowed,
    stateCount,
    classOf,
    classCount,
    next,
    reading,
    accepting,
    branching,
    counting,
    // A call after which its rule can only end needs no place on the stack: recursion stays flat.
    calls: calls.map((list) =>
      list.map((call) => (canOnlyEnd(call.next) ? { ...call, next: DEAD } : call)),
    ),
  };
}

/** Marks the states from which the end of their rule can be reached. */
function liveStates(states: readonly DfaState[], starts: readonly number[]): Uint8Array {
  const live = new Uint8Array(states.length);
  const dependents: number[][] = states.map(() => []);
  const startOf = (rule: number) => starts[rule] ?? -1;
  for (const [index, { bytes, calls }] of states.entries()) {
    for (const { target } of bytes) dependents[target]?.push(index);
    for (const { rule, target } of calls) {
      dependents[target]?.push(index);
      dependents[startOf(rule)]?.push(index);
    }
  }
  const pending = [...states.keys()];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    const state = states[index];
    if (state === undefined || live[index] === 1) continue;
    countWork(state.bytes.length + state.calls.length);
    const isLive =
      state.isAccepting ||
      state.bytes.some(({ target }) => live[target] === 1) ||
      state.calls.some(({ rule, target }) => live[startOf(rule)] === 1 && live[target] === 1);
    if (!isLive) continue;
    live[index] = 1;
    for (const dependent of dependents[index] ?? []) pending.push(dependent);
  }
  return live;
}

/** Classes are ranges of bytes, so a range of bytes is a range of classes. */
function byteClasses(states: readonly DfaState[]) {
  const isFirst = new Uint8Array(257);
  for (const { bytes } of states) {
    for (const { first, last } of bytes) {
      isFirst[first] = 1;
      isFirst[last + 1] = 1;
    }
  }
  const classOf = new Uint8Array(256);
  for (let byte = 1; byte < 256; byte++) {
    classOf[byte] = (classOf[byte - 1] ?? 0) + (isFirst[byte] ?? 0);
  }
  return { classOf, classCount: (classOf[255] ?? 0) + 1 };
}
