import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import {
  constructorPattern,
  floatPattern,
  int,
  intPattern,
  tuplePattern,
  variableOf,
  wildcard,
} from '../../ir/build.ts';
import type { Pattern } from '../../ir/expr.ts';
import type { ConstructorDefinition } from '../../ir/type.ts';
import { checkClauses } from './check-clauses.ts';

const ELEMENT = { kind: 'type-var', name: 'A' } as const;
const COLOURS: readonly ConstructorDefinition[] = ['Red', 'Green', 'Blue'].map((name) => ({
  name,
  fields: [],
}));
const TREES: readonly ConstructorDefinition[] = [
  { name: 'Leaf', fields: [] },
  { name: 'Node', fields: [ELEMENT, ELEMENT] },
];

const siblings = (name: string): readonly ConstructorDefinition[] =>
  [COLOURS, TREES].find((all) => all.some((one) => one.name === name)) ?? [];

const check = (...patterns: readonly Pattern[]): ReturnType<typeof checkClauses> =>
  checkClauses(
    patterns.map((pattern) => ({ pattern, body: int(0) })),
    siblings,
  );

const variable = (name: string): Pattern => ({
  kind: 'var-pattern',
  variable: variableOf(name),
});
const red = constructorPattern('Red');
const leaf = constructorPattern('Leaf');
const node = (left: Pattern, right: Pattern): Pattern => constructorPattern('Node', [left, right]);

describe('checkClauses', () => {
  test('names a value that is missing', () => {
    expect(check(red, constructorPattern('Blue')).missing).toBe('Green');
    expect(check(node(leaf, wildcard()), leaf).missing).toBe('Node(Node(_, _), _)');
    expect(check(tuplePattern([red, leaf])).missing).toBe('(Red, Node(_, _))');
    expect(check(tuplePattern([red])).missing).toBe('(Green,)');
    expect(check().missing).toBe('_');
  });

  test('names clauses that are never reached', () => {
    expect(check(red, variable('x'), constructorPattern('Blue'))).toEqual({
      missing: undefined,
      unreachable: [2],
    });
    expect(check(leaf, leaf, node(wildcard(), wildcard())).unreachable).toEqual([1]);
  });

  test('numbers are never all named', () => {
    const three = intPattern(3);
    expect(check(three, intPattern(4)).missing).toBe('_');
    expect(check(tuplePattern([three, wildcard()]), tuplePattern([wildcard(), red])).missing).toBe(
      '(_, Green)',
    );
    expect(check(tuplePattern([three, red]), tuplePattern([variable('x'), leaf])).missing).toBe(
      '(_, Node(_, _))',
    );
    const clauses = [three, intPattern(4), three, wildcard(), intPattern(5)];
    expect(check(...clauses)).toEqual({ missing: undefined, unreachable: [2, 4] });
    expect(check(floatPattern(0), floatPattern(-0), wildcard()).unreachable).toEqual([1]);
  });

  test('agrees with trying all values, on random patterns', () => {
    const random = seededRandom(7);
    const values = treesUpTo(3);
    for (let i = 0; i < 300; i++) {
      const patterns = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
        randomPattern(random, 2),
      );
      const takers = values.map((value) => patterns.findIndex((pattern) => fits(pattern, value)));
      const { missing, unreachable } = check(...patterns);
      expect(missing === undefined).toBe(!takers.includes(-1));
      expect(unreachable).toEqual([...patterns.keys()].filter((index) => !takers.includes(index)));
    }
  });
});

interface Value {
  readonly name: string;
  readonly fields: readonly Value[];
}

function treesUpTo(depth: number): Value[] {
  const leafValue = { name: 'Leaf', fields: [] };
  if (depth === 0) return [leafValue];
  const below = treesUpTo(depth - 1);
  const nodes = below.flatMap((left) =>
    below.map((right) => ({ name: 'Node', fields: [left, right] })),
  );
  return [leafValue, ...nodes];
}

function randomPattern(random: () => number, depth: number): Pattern {
  if (depth === 0 || random() < 0.3) return random() < 0.5 ? wildcard() : variable('x');
  if (random() < 0.4) return leaf;
  return node(randomPattern(random, depth - 1), randomPattern(random, depth - 1));
}

function fits(pattern: Pattern, value: Value): boolean {
  if (pattern.kind !== 'constructor-pattern') return true;
  return (
    pattern.constructor === value.name &&
    pattern.fields.every((field, i) => {
      const inner = value.fields[i];
      return inner !== undefined && fits(field, inner);
    })
  );
}
