import { countWork } from '../../../core/limits/work-meter.ts';
import type { Clause, Pattern } from '../../ir/expr.ts';
import { printFloat } from '../../ir/text/print-literal.ts';
import type { ConstructorDefinition } from '../../ir/type.ts';

/** The constructors of the data type that a constructor belongs to, in order. */
type Siblings = (constructor: string) => readonly ConstructorDefinition[];

interface ClauseReport {
  /** A pattern for values that no clause takes, as text. */
  readonly missing: string | undefined;
  /** Clauses that are never reached, by index. */
  readonly unreachable: readonly number[];
}

type Row = readonly Pattern[];

const WILDCARD: Pattern = { kind: 'wildcard' };

/**
 * Which values clauses leave out and which clauses are never reached. After L. Maranget, "Warnings
 * for pattern matching" (2007): a row of patterns is useful if it fits a value that no row before
 * it fits.
 */
export function checkClauses(clauses: readonly Clause[], siblings: Siblings): ClauseReport {
  return checkLiterals(clauses) ?? checkPatterns(clauses, siblings);
}

/** Clauses of literals alone, and of what fits everything. There may be thousands. */
function checkLiterals(clauses: readonly Clause[]): ClauseReport | undefined {
  const unreachable: number[] = [];
  const taken = new Set<number>();
  let takesAll = false;
  for (const [index, { pattern }] of clauses.entries()) {
    const isLiteral = 'value' in pattern;
    if (!isLiteral && isConstructed(pattern)) return undefined;
    if (takesAll || (isLiteral && taken.has(pattern.value))) unreachable.push(index);
    if (isLiteral) taken.add(pattern.value);
    else takesAll = true;
  }
  return { missing: takesAll ? undefined : formatPattern(WILDCARD), unreachable };
}

function checkPatterns(clauses: readonly Clause[], siblings: Siblings): ClauseReport {
  const rows: Row[] = [];
  const unreachable: number[] = [];
  for (const [index, { pattern }] of clauses.entries()) {
    const row = [pattern];
    if (witness(rows, row, siblings) === undefined) unreachable.push(index);
    else rows.push(row);
  }
  const [missing] = witness(rows, [WILDCARD], siblings) ?? [];
  return { missing: missing === undefined ? undefined : formatPattern(missing), unreachable };
}

/** A row of values, as patterns, that `row` fits and none of `rows` does; undefined if none is. */
function witness(rows: readonly Row[], row: Row, siblings: Siblings): Row | undefined {
  countWork(1 + rows.length);
  const [first, ...rest] = row;
  if (first === undefined) return rows.length === 0 ? [] : undefined;
  if (isConstructed(first)) return constructedWitness(rows, { first, rest }, siblings);
  const heads = rows.flatMap(([head]) => (head !== undefined && isConstructed(head) ? [head] : []));
  const [head] = heads;
  if (head === undefined) {
    const others = rows.map((other) => other.slice(1));
    const found = witness(others, rest, siblings);
    return found === undefined ? undefined : [WILDCARD, ...found];
  }
  if ('value' in head) return numberWitness(rows, { heads, rest }, siblings);
  for (const alternative of alternatives(head, siblings)) {
    const isTaken = heads.some((other) => isSameConstructor(other, alternative));
    const found = isTaken
      ? constructedWitness(rows, { first: alternative, rest }, siblings)
      : absentWitness(rows, { alternative, rest }, siblings);
    if (found !== undefined) return found;
  }
  return undefined;
}

function constructedWitness(
  rows: readonly Row[],
  { first, rest }: { first: Constructed; rest: Row },
  siblings: Siblings,
): Row | undefined {
  const inner = rows.flatMap((row) => {
    const specialised = specialise(row, first);
    return specialised === undefined ? [] : [specialised];
  });
  const fields = fieldsOf(first);
  const found = witness(inner, [...fields, ...rest], siblings);
  if (found === undefined) return undefined;
  if (!('fields' in first)) return [first, ...found];
  return [{ ...first, fields: found.slice(0, fields.length) }, ...found.slice(fields.length)];
}

/** Values that no clause fits, where the first is a number: some number is in no clause. */
function numberWitness(
  rows: readonly Row[],
  { heads, rest }: { heads: readonly Constructed[]; rest: Row },
  siblings: Siblings,
): Row | undefined {
  const other = absentWitness(rows, { alternative: WILDCARD, rest }, siblings);
  if (other !== undefined) return other;
  for (const first of heads) {
    const found = constructedWitness(rows, { first, rest }, siblings);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Finds values that no row matches, the first of which is `alternative`. No row names that one, so
 * only rows that begin with a wildcard can match it.
 */
function absentWitness(
  rows: readonly Row[],
  { alternative, rest }: { alternative: Pattern; rest: Row },
  siblings: Siblings,
): Row | undefined {
  const open = rows.filter(([head]) => head !== undefined && !isConstructed(head));
  const found = witness(
    open.map((row) => row.slice(1)),
    rest,
    siblings,
  );
  return found === undefined ? undefined : [alternative, ...found];
}

/** The row for values of this constructor, its fields in front; undefined if it fits none. */
function specialise([head, ...rest]: Row, of: Constructed): Row | undefined {
  if (head === undefined || !isConstructed(head)) {
    return [...fieldsOf(of).map(() => WILDCARD), ...rest];
  }
  return isSameConstructor(head, of) ? [...fieldsOf(head), ...rest] : undefined;
}

type Constructed = Exclude<Pattern, { kind: 'wildcard' | 'var-pattern' }>;

function isConstructed(pattern: Pattern): pattern is Constructed {
  return pattern.kind !== 'wildcard' && pattern.kind !== 'var-pattern';
}

function fieldsOf(pattern: Constructed): readonly Pattern[] {
  return 'fields' in pattern ? pattern.fields : [];
}

function isSameConstructor(a: Constructed, b: Constructed): boolean {
  if (a.kind === 'constructor-pattern') {
    return b.kind === a.kind && a.constructor === b.constructor;
  }
  return a.kind === b.kind && ('value' in a ? 'value' in b && a.value === b.value : true);
}

/** Every form that a value can have where this pattern stands, but for the numbers of the host. */
function alternatives(pattern: Constructed, siblings: Siblings): Constructed[] {
  if (pattern.kind === 'tuple-pattern') {
    return [{ ...pattern, fields: pattern.fields.map(() => WILDCARD) }];
  }
  if (pattern.kind !== 'constructor-pattern') return [];
  return siblings(pattern.constructor).map(({ name, fields }) => ({
    kind: 'constructor-pattern',
    constructor: name,
    fields: fields.map(() => WILDCARD),
  }));
}

function formatPattern(pattern: Pattern): string {
  if (!isConstructed(pattern)) return '_';
  if (pattern.kind === 'int-pattern') return `#${pattern.value}`;
  if (pattern.kind === 'float-pattern') return printFloat(pattern.value);
  const fields = pattern.fields.map(formatPattern);
  if (pattern.kind === 'tuple-pattern') {
    return fields.length === 1 ? `(${fields[0]},)` : `(${fields.join(', ')})`;
  }
  return fields.length === 0 ? pattern.constructor : `${pattern.constructor}(${fields.join(', ')})`;
}
