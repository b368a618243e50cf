import { CompileLimitError, UnsupportedError } from '../../../core/errors.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import { type Counted, type Expression, partsOf, type Rules } from '../expression.ts';
import { copiesOf, type Measure, measure } from '../measure-expression.ts';

/** Facts about the rules that the root needs, directly or through others. */
export interface RuleFacts {
  /** Rules that match the empty text. */
  readonly nullable: ReadonlySet<string>;
  /** Rules that become part of the automata of those that use them. */
  readonly inlined: ReadonlySet<string>;
  /** All others, each of which gets an automaton; the root is first. */
  readonly separate: readonly string[];
  /** One expression for each name of a counted one; these get automata too. */
  readonly counted: readonly Counted[];
}

export const MAX_RULE_COUNT = 5000;
/** A rule of at most so many states is inlined wherever it is used. */
const SMALL_STATE_COUNT = 10;
/** A rule is inlined up to this number of parts inside each other, which bounds the calls that build automata. */
const MAX_INLINE_DEPTH = 200;

/** Throws UnsupportedError for a rule that can begin with itself, because no stack could hold it. */
export function analyseRules(rules: Rules): RuleFacts {
  const reached = reachedRules(rules);
  const nullable = nullableRules(reached);
  requireNoLeftRecursion(reached, nullable);
  const inlined = inlinedRules(rules.root, reached);
  const separate = [...reached.keys()].filter((name) => !inlined.has(name));
  const counted = new Map<string, Counted>();
  for (const expression of reached.values()) collectCounted(expression, counted);
  return { nullable, inlined, separate, counted: [...counted.values()] };
}

function reachedRules({ root, rules }: Rules): Map<string, Expression> {
  const reached = new Map<string, Expression>();
  const names = [root];
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const expression = rules.get(name);
    if (expression === undefined || reached.has(name)) continue;
    reached.set(name, expression);
    if (reached.size > MAX_RULE_COUNT) throw tooManyRules('grammar');
    for (const used of countUses(expression).keys()) names.push(used);
  }
  return reached;
}

/** Rules were reached from the root, so those that others need are mostly behind them. */
function leavesFirst<T>(rules: ReadonlyMap<string, T>): [string, T][] {
  return [...rules].reverse();
}

export function tooManyRules(where: string): CompileLimitError {
  return new CompileLimitError({
    where,
    got: `more than ${MAX_RULE_COUNT} rules`,
    expected: 'at most so many',
    remedy: 'Write rules that differ in a few places as one with alternatives.',
  });
}

function collectCounted(expression: Expression, counted: Map<string, Counted>): void {
  if (expression.kind === 'counted') counted.set(expression.name, expression);
  for (const part of partsOf(expression)) collectCounted(part, counted);
}

/** How often a rule is written in an expression once its bounded repetitions are written out. */
function countUses(expression: Expression, factor = 1, uses = new Map<string, number>()) {
  countWork();
  if (expression.kind === 'rule') {
    uses.set(expression.name, (uses.get(expression.name) ?? 0) + factor);
  }
  const copies = expression.kind === 'repeat' ? copiesOf(expression) : 1;
  for (const part of partsOf(expression)) countUses(part, factor * copies, uses);
  return uses;
}

function nullableRules(rules: ReadonlyMap<string, Expression>): Set<string> {
  const nullable = new Set<string>();
  for (let count = -1; count < nullable.size; ) {
    count = nullable.size;
    for (const [name, expression] of leavesFirst(rules)) {
      if (isNullable(expression, nullable)) nullable.add(name);
    }
  }
  return nullable;
}

function isNullable(expression: Expression, nullable: ReadonlySet<string>): boolean {
  countWork();
  const isPartNullable = (part: Expression) => isNullable(part, nullable);
  switch (expression.kind) {
    case 'text':
      return expression.text === '';
    case 'character':
    case 'counted':
      return false;
    case 'sequence':
      return expression.parts.every(isPartNullable);
    case 'choice':
      return expression.options.some(isPartNullable);
    case 'repeat':
      return expression.min === 0 || isPartNullable(expression.body);
    case 'graph': {
      const reached = new Set([0]);
      for (let count = 0; count < reached.size; ) {
        count = reached.size;
        for (const { from, to, body } of expression.edges) {
          if (reached.has(from) && isPartNullable(body)) reached.add(to);
        }
      }
      return reached.has(expression.end);
    }
    case 'rule':
      return nullable.has(expression.name);
    default:
      return expression satisfies never;
  }
}

/** The rules with which a text of an expression may begin; those of all parts of a graph. */
function firstRules(
  expression: Expression,
  nullable: ReadonlySet<string>,
  names = new Set<string>(),
): Set<string> {
  countWork();
  if (expression.kind === 'rule') names.add(expression.name);
  for (const part of partsOf(expression)) {
    firstRules(part, nullable, names);
    if (expression.kind === 'sequence' && !isNullable(part, nullable)) break;
  }
  return names;
}

function requireNoLeftRecursion(
  rules: ReadonlyMap<string, Expression>,
  nullable: ReadonlySet<string>,
): void {
  const first = new Map<string, string[]>();
  for (const [name, expression] of rules) first.set(name, [...firstRules(expression, nullable)]);
  // Takes away rules that begin with none that is left; the rest lies on circles or leads to one.
  for (let count = Number.POSITIVE_INFINITY; first.size < count; ) {
    count = first.size;
    for (const [name, names] of leavesFirst(first)) {
      countWork(names.length);
      if (!names.some((other) => first.has(other))) first.delete(name);
    }
  }
  const [start] = first.keys();
  if (start === undefined) return;
  const path = [start];
  for (;;) {
    const next = first.get(path.at(-1) ?? '')?.find((name) => first.has(name)) ?? start;
    const circleStart = path.indexOf(next);
    path.push(next);
    if (circleStart < 0) continue;
    const circle = path.slice(circleStart);
    throw new UnsupportedError(
      {
        where: `rule ${next}`,
        got: `a rule that begins with itself (${circle.join(' → ')})`,
        expected: 'rules without left recursion',
        remedy: 'Write it as a repetition: a ::= b ("," b)*, not a ::= a "," b | b.',
      },
      { details: { rules: circle } },
    );
  }
}

/** Leaves first: a rule is inlined when it uses inlined rules only, and is small or used once. */
function inlinedRules(root: string, rules: ReadonlyMap<string, Expression>): Set<string> {
  const uses = new Map<string, number>();
  for (const expression of rules.values()) {
    for (const [name, count] of countUses(expression)) {
      uses.set(name, (uses.get(name) ?? 0) + count);
    }
  }
  const inlined = new Map<string, Measure>();
  for (let count = -1; count < inlined.size; ) {
    count = inlined.size;
    for (const [name, expression] of leavesFirst(rules)) {
      if (name === root || inlined.has(name)) continue;
      if ([...countUses(expression).keys()].some((other) => !inlined.has(other))) continue;
      const own = measure(expression, inlined);
      if (own.depth > MAX_INLINE_DEPTH) continue;
      if (own.size <= SMALL_STATE_COUNT || uses.get(name) === 1) inlined.set(name, own);
    }
  }
  return new Set(inlined.keys());
}
