import { countWork } from '../../../core/limits/work-meter.ts';
import type {
  Clause,
  ConstructorPattern,
  FloatPattern,
  IntPattern,
  Pattern,
  VarExpr,
} from '../../ir/expr.ts';
import type { TypeDefinition } from '../../ir/type.ts';

/** A place in the value that is matched: the value itself, or a field of another place. */
export class Occurrence {
  readonly parent: Occurrence | undefined;
  readonly index: number;
  readonly #fields = new Map<number, Occurrence>();

  constructor(parent?: Occurrence, index = 0) {
    this.parent = parent;
    this.index = index;
  }

  /** The same object each time. */
  field(index: number): Occurrence {
    const known = this.#fields.get(index);
    if (known !== undefined) return known;
    const field = new Occurrence(this, index);
    this.#fields.set(index, field);
    return field;
  }
}

/**
 * The tests that remain for a value. On a path from the root the constructor at each place is looked
 * at no more than once, and a number is compared with each literal no more than once.
 */
export type DecisionTree =
  | {
      readonly kind: 'leaf';
      readonly clause: number;
      /** Where the variables of the clause are. The same for all leaves of a clause. */
      readonly bindings: ReadonlyMap<VarExpr, Occurrence>;
    }
  | {
      readonly kind: 'switch';
      readonly occurrence: Occurrence;
      readonly cases: readonly DecisionCase[];
      /** Absent when the cases are all the constructors of the type. */
      readonly otherwise: DecisionTree | undefined;
    }
  | {
      readonly kind: 'compare';
      readonly occurrence: Occurrence;
      readonly number: NumberPattern;
      readonly equal: DecisionTree;
      readonly otherwise: DecisionTree;
    }
  | { readonly kind: 'fail' };

/** A literal: an int or a float of the host. */
type NumberPattern = IntPattern | FloatPattern;

interface DecisionCase {
  readonly constructor: string;
  readonly tree: DecisionTree;
}

/** The clauses that may still fit, each with the tests that it still needs. */
interface Row {
  readonly clause: number;
  readonly tests: ReadonlyMap<Occurrence, ConstructorPattern | NumberPattern>;
  readonly bindings: ReadonlyMap<VarExpr, Occurrence>;
}

/** A subtree that is to be built. */
interface Task {
  readonly rows: readonly Row[];
  readonly place: (tree: DecisionTree) => void;
}

/**
 * Compiles the clauses of a `match` to a decision tree: the first clause that fits wins, and no
 * place is tested twice on one path. The place to look at is the first that the first clause needs
 * (Maranget, "Compiling Pattern Matching to Good Decision Trees", with the leftmost heuristic).
 */
export function buildDecisionTree(
  root: Occurrence,
  clauses: readonly Clause[],
  definitionOf: (constructor: string) => TypeDefinition,
): DecisionTree {
  const rows = clauses.map(({ pattern }, clause) =>
    withPatterns({ clause, tests: new Map(), bindings: new Map() }, [[root, pattern]]),
  );
  let result: DecisionTree = { kind: 'fail' };
  const work: Task[] = [{ rows, place: (tree) => (result = tree) }];
  for (let task = work.pop(); task !== undefined; task = work.pop()) {
    const [first] = task.rows;
    const [occurrence, test] = first?.tests.entries().next().value ?? [];
    if (first === undefined) task.place({ kind: 'fail' });
    else if (occurrence === undefined || test === undefined) {
      task.place({ kind: 'leaf', clause: first.clause, bindings: first.bindings });
    } else {
      const context = { definitionOf, later: (next: Task) => void work.push(next) };
      const isNumber = test.kind !== 'constructor-pattern';
      task.place((isNumber ? compare : split)(task.rows, occurrence, context));
    }
  }
  return result;
}

interface SplitContext {
  readonly definitionOf: (constructor: string) => TypeDefinition;
  readonly later: (task: Task) => void;
}

/** A switch over the constructor at a place; its subtrees are filled in later. */
function split(
  rows: readonly Row[],
  occurrence: Occurrence,
  { definitionOf, later }: SplitContext,
): DecisionTree {
  const tested = new Set<string>();
  countWork(rows.length);
  for (const row of rows) {
    const test = row.tests.get(occurrence);
    if (test?.kind === 'constructor-pattern') tested.add(test.constructor);
  }
  const [any = ''] = tested;
  const isExhaustive = tested.size === definitionOf(any).constructors.length;
  const cases = Array.from(tested, (constructor) => {
    const branch: { constructor: string; tree: DecisionTree } = { constructor, tree: FAIL };
    const place = (tree: DecisionTree): void => void (branch.tree = tree);
    later({ rows: rows.flatMap((row) => specialise(row, occurrence, constructor)), place });
    return branch;
  });
  const node: { otherwise: DecisionTree | undefined } & Extract<DecisionTree, { kind: 'switch' }> =
    { kind: 'switch', occurrence, cases, otherwise: undefined };
  if (!isExhaustive) {
    later({
      rows: rows.filter((row) => !row.tests.has(occurrence)),
      place: (tree) => void (node.otherwise = tree),
    });
  }
  return node;
}

/**
 * Tests for the literals that the first rows begin with, one after the other: whether the number at an occurrence is
 * equal to it. Subtrees are filled in later.
 */
function compare(
  rows: readonly Row[],
  occurrence: Occurrence,
  { later }: SplitContext,
): DecisionTree {
  const literals = new Map<number, { readonly number: NumberPattern; readonly rows: Row[] }>();
  for (const { tests } of rows) {
    const [place, number] = tests.entries().next().value ?? [];
    if (place !== occurrence || number === undefined || !('value' in number)) break;
    if (!literals.has(number.value)) literals.set(number.value, { number, rows: [] });
  }
  const rest: Row[] = [];
  for (const row of rows) {
    const test = row.tests.get(occurrence);
    const own = test !== undefined && 'value' in test ? literals.get(test.value) : undefined;
    const fitting = test === undefined ? [...literals.values()] : own === undefined ? [] : [own];
    countWork(1 + fitting.length);
    const known = { ...row, tests: without(row.tests, occurrence) };
    for (const literal of fitting) literal.rows.push(known);
    if (own === undefined) rest.push(row);
  }
  let place = (tree: DecisionTree): void => void (first = tree);
  let first: DecisionTree = FAIL;
  for (const { number, rows: equal } of literals.values()) {
    const node = { kind: 'compare' as const, occurrence, number, equal: FAIL, otherwise: FAIL };
    later({ rows: equal, place: (tree) => void (node.equal = tree) });
    place(node);
    place = (tree) => void (node.otherwise = tree);
  }
  later({ rows: rest, place });
  return first;
}

function without(tests: Row['tests'], occurrence: Occurrence): Row['tests'] {
  if (!tests.has(occurrence)) return tests;
  const rest = new Map(tests);
  rest.delete(occurrence);
  return rest;
}

const FAIL: DecisionTree = { kind: 'fail' };

/** The row where the place is known to hold a constructor; none when it does not fit. */
function specialise(row: Row, occurrence: Occurrence, constructor: string): Row[] {
  const test = row.tests.get(occurrence);
  if (test === undefined) return [row];
  if (test.kind !== 'constructor-pattern' || test.constructor !== constructor) return [];
  const tests = without(row.tests, occurrence);
  const fields = test.fields.map((field, i) => [occurrence.field(i), field] as const);
  return [withPatterns({ ...row, tests }, fields)];
}

/** The row with more patterns: variables are bound, tuples opened, constructors still to test. */
function withPatterns(row: Row, patterns: readonly (readonly [Occurrence, Pattern])[]): Row {
  const tests = new Map(row.tests);
  const bindings = new Map(row.bindings);
  countWork(1 + tests.size + patterns.length);
  const work = patterns.toReversed();
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [occurrence, pattern] = next;
    if (pattern.kind === 'var-pattern') bindings.set(pattern.variable, occurrence);
    else if (pattern.kind === 'tuple-pattern') {
      const fields = pattern.fields.map((field, i) => [occurrence.field(i), field] as const);
      work.push(...fields.toReversed());
    } else if (pattern.kind !== 'wildcard') tests.set(occurrence, pattern);
  }
  return { clause: row.clause, tests, bindings };
}
