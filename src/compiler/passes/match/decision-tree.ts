import type { Clause, Pattern, VarExpr } from '../../ir/expr.ts';
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
 * The tests that remain for a value. On a path from the root each place is looked at no
 * more than once.
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
  | { readonly kind: 'fail' };

export interface DecisionCase {
  readonly constructor: string;
  readonly tree: DecisionTree;
}

/** The clauses that may still fit, each with the tests that it still needs. */
interface Row {
  readonly clause: number;
  readonly tests: ReadonlyMap<Occurrence, ConstructorTest>;
  readonly bindings: ReadonlyMap<VarExpr, Occurrence>;
}

interface ConstructorTest {
  readonly constructor: string;
  readonly fields: readonly Pattern[];
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
    const occurrence = first?.tests.keys().next().value;
    if (first === undefined) task.place({ kind: 'fail' });
    else if (occurrence === undefined) {
      task.place({ kind: 'leaf', clause: first.clause, bindings: first.bindings });
    } else {
      task.place(split(task.rows, occurrence, { definitionOf, later: (next) => work.push(next) }));
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
  for (const row of rows) {
    const test = row.tests.get(occurrence);
    if (test !== undefined) tested.add(test.constructor);
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

const FAIL: DecisionTree = { kind: 'fail' };

/** The row where the place is known to hold a constructor; none when it does not fit. */
function specialise(row: Row, occurrence: Occurrence, constructor: string): Row[] {
  const test = row.tests.get(occurrence);
  if (test === undefined) return [row];
  if (test.constructor !== constructor) return [];
  const tests = new Map(row.tests);
  tests.delete(occurrence);
  const fields = test.fields.map((field, i) => [occurrence.field(i), field] as const);
  return [withPatterns({ ...row, tests }, fields)];
}

/** The row with more patterns: variables are bound, tuples opened, constructors still to test. */
function withPatterns(row: Row, patterns: readonly (readonly [Occurrence, Pattern])[]): Row {
  const tests = new Map(row.tests);
  const bindings = new Map(row.bindings);
  const work = patterns.toReversed();
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [occurrence, pattern] = next;
    if (pattern.kind === 'var-pattern') bindings.set(pattern.variable, occurrence);
    else if (pattern.kind === 'constructor-pattern') tests.set(occurrence, pattern);
    else if (pattern.kind === 'tuple-pattern') {
      const fields = pattern.fields.map((field, i) => [occurrence.field(i), field] as const);
      work.push(...fields.toReversed());
    }
  }
  return { clause: row.clause, tests, bindings };
}
