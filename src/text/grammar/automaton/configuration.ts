import { CompileLimitError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import { type Automaton, DEAD, UNIT_START } from './automaton.ts';
import { UNBOUNDED } from './byte-nfa.ts';

/** Where an automaton is. Ambiguous grammars have several configurations at a time. */
export interface Configuration {
  readonly state: number;
  readonly stack: number;
  /** Units that a counted rule still needs; 0 in other rules. */
  readonly missing: number;
  /** Units that a counted rule may still begin; UNBOUNDED in other rules. */
  readonly remaining: number;
}

/** All configurations after some bytes: those in which a byte can be read next. */
export interface Configurations {
  readonly list: readonly Configuration[];
  /** The bytes are a text of the grammar. */
  readonly isComplete: boolean;
}

const MAX_CONFIGURATION_COUNT = 1000;

/** The configurations before the first byte. */
export function startConfigurations(automaton: Automaton, stacks: Stacks): Configurations {
  const { start, isEmptyAllowed } = automaton;
  const closed = close([inRule(start, EMPTY_STACK)], automaton, stacks);
  return { ...closed, isComplete: isEmptyAllowed };
}

/** After one more byte. The list is empty, and the text not complete, if the byte is not allowed. */
export function readByte(
  { list }: Configurations,
  byte: number,
  { automaton, stacks }: { readonly automaton: Automaton; readonly stacks: Stacks },
): Configurations {
  const after: Configuration[] = [];
  for (const configuration of list) {
    const read = step(configuration, byte, automaton);
    if (read !== undefined) after.push(read);
  }
  return close(after, automaton, stacks);
}

/** The byte that must follow, or undefined if there is a choice or the text may end. */
export function onlyByte(
  { list, isComplete }: Configurations,
  automaton: Automaton,
): number | undefined {
  if (isComplete) return undefined;
  let only: number | undefined;
  countWork(16 * list.length);
  for (const configuration of list) {
    for (let byte = 0; byte < 256; byte++) {
      if (byte === only || step(configuration, byte, automaton) === undefined) continue;
      if (only !== undefined) return undefined;
      only = byte;
    }
  }
  return only;
}

/** A configuration in a rule that is not counted. */
export function inRule(state: number, stack: number): Configuration {
  return { state, stack, missing: 0, remaining: UNBOUNDED };
}

function step(
  configuration: Configuration,
  byte: number,
  { classOf, classCount, next, counting, accepting }: Automaton,
): Configuration | undefined {
  const { state, stack, missing, remaining } = configuration;
  const target = next[state * classCount + (classOf[byte] ?? 0)] ?? DEAD;
  if (target === DEAD) return undefined;
  if (counting[state] !== UNIT_START) return { ...configuration, state: target };
  if (accepting[target] === 1) return missing > 0 ? undefined : inRule(target, stack);
  if (remaining === 0) return undefined;
  return {
    state: target,
    stack,
    missing: Math.max(0, missing - 1),
    remaining: remaining === UNBOUNDED ? UNBOUNDED : remaining - 1,
  };
}

/** Adds what is reached by ends and starts of rules, and keeps what can read a byte. */
function close(
  read: readonly Configuration[],
  automaton: Automaton,
  stacks: Stacks,
): Configurations {
  const all: Configuration[] = [];
  let isComplete = false;
  const add = (configuration: Configuration): void => {
    countWork(1 + all.length / 8);
    if (all.some((other) => isSame(other, configuration))) return;
    if (all.push(configuration) > MAX_CONFIGURATION_COUNT) throw tooAmbiguous();
  };
  for (const configuration of read) add(configuration);
  // The list grows while it is walked.
  for (const { state, stack } of all) {
    for (const { start, next, min, max } of automaton.calls[state] ?? []) {
      const called = next === DEAD ? stack : stacks.push(stack, next);
      add({ state: start, stack: called, missing: min, remaining: max });
    }
    if (automaton.accepting[state] === 0) continue;
    if (stack === EMPTY_STACK) isComplete = true;
    else add(inRule(stacks.top(stack), stacks.below(stack)));
  }
  const list = all.filter(({ state }) => automaton.reading[state] === 1);
  return { list, isComplete };
}

function isSame(a: Configuration, b: Configuration): boolean {
  return (
    a.state === b.state &&
    a.stack === b.stack &&
    a.missing === b.missing &&
    a.remaining === b.remaining
  );
}

function tooAmbiguous(): CompileLimitError {
  return new CompileLimitError({
    where: 'grammar',
    got: `more than ${MAX_CONFIGURATION_COUNT} ways to read a text`,
    expected: 'at most so many',
    remedy: 'Write alternatives that differ in their first characters, not behind a long part.',
  });
}

/** The stack of a rule at whose end the text ends. */
export const EMPTY_STACK = 0;
/** The stack of a rule of which it is not known who called it. */
export const UNKNOWN_STACK = 1;

/** Stacks and states have numbers that fit into one number together with a node of a vocabulary. */
export const MAX_STACK_COUNT = 1 << 17;

/** Stacks of states to return to, each stored once, so that equal stacks have equal numbers. */
export class Stacks {
  readonly #states: number[] = [0, 0];
  readonly #parents: number[] = [0, 0];
  readonly #indices = new Map<number, number>();

  /** Throws CompileLimitError when there are too many different ones. */
  push(stack: number, state: number): number {
    const key = state * MAX_STACK_COUNT + stack;
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    const index = this.#states.push(state) - 1;
    if (index >= MAX_STACK_COUNT) {
      throw new CompileLimitError({
        where: 'grammar',
        got: `more than ${MAX_STACK_COUNT} different stacks of open rules in one text`,
        expected: 'at most so many',
        remedy: 'Limit how deep rules may be inside each other, or make them less ambiguous.',
      });
    }
    this.#parents.push(stack);
    this.#indices.set(key, index);
    return index;
  }

  /** The state to which the rule on top returns. */
  top(stack: number): number {
    return this.#states[stack] ?? 0;
  }

  /** The stack that is left then. */
  below(stack: number): number {
    return this.#parents[stack] ?? 0;
  }
}
