import { describe, expect, test } from 'vitest';
import { buildDecisionTree, type DecisionTree, Occurrence } from './decision-tree.ts';
import {
  constructorPattern,
  int,
  intPattern,
  match,
  tuplePattern,
  variableOf,
  wildcard,
} from '../../ir/build.ts';
import type { Pattern, VarExpr } from '../../ir/expr.ts';
import type { TypeDefinition } from '../../ir/type.ts';

const TYPES: readonly TypeDefinition[] = [
  {
    name: 'List',
    params: [],
    constructors: [
      { name: 'Nil', fields: [] },
      { name: 'Cons', fields: [] },
    ],
  },
  {
    name: 'Color',
    params: [],
    constructors: ['Red', 'Green', 'Blue'].map((name) => ({ name, fields: [] })),
  },
  { name: 'Box', params: [], constructors: [{ name: 'Box', fields: [] }] },
];

const NIL = constructorPattern('Nil');
const cons = (head: Pattern | VarExpr, tail: Pattern | VarExpr): Pattern =>
  constructorPattern('Cons', [head, tail]);

/** A tree with a line for each test and each end; places are paths of field numbers. */
function build(...patterns: readonly (Pattern | VarExpr)[]): string {
  const { clauses } = match(
    int(0),
    patterns.map((pattern) => [pattern, int(0)]),
  );
  const tree = buildDecisionTree(new Occurrence(), clauses, (name) => {
    const type = TYPES.find(({ constructors }) => constructors.some((c) => c.name === name));
    if (type === undefined) throw new Error(name);
    return type;
  });
  return `\n${show(tree, '')}\n`;
}

function path({ parent, index }: Occurrence): string {
  return parent === undefined ? 'value' : `${path(parent)}.${index}`;
}

function show(tree: DecisionTree, indent: string): string {
  if (tree.kind === 'fail') return `${indent}fail`;
  if (tree.kind === 'leaf') {
    const bindings = Array.from(tree.bindings, ([{ name }, place]) => ` ${name}=${path(place)}`);
    return `${indent}clause ${tree.clause}${bindings.join('')}`;
  }
  if (tree.kind === 'compare') {
    const { occurrence, number, equal, otherwise } = tree;
    return [
      `${indent}${path(occurrence)} = ${number.value}:`,
      show(equal, `${indent}  `),
      `${indent}else:`,
      show(otherwise, `${indent}  `),
    ].join('\n');
  }
  const { occurrence, cases, otherwise } = tree;
  const lines = cases.flatMap(({ constructor, tree: inner }) => [
    `${indent}${path(occurrence)} is ${constructor}:`,
    show(inner, `${indent}  `),
  ]);
  if (otherwise !== undefined) lines.push(`${indent}else:`, show(otherwise, `${indent}  `));
  return lines.join('\n');
}

const [a, b] = [variableOf('a'), variableOf('b')];

describe('the decision tree of a match', () => {
  test('nested patterns, and one that every value fits', () => {
    expect(build(cons(a, NIL), cons(a, cons(b, wildcard())), wildcard())).toMatchInlineSnapshot(`
      "
      value is Cons:
        value.1 is Nil:
          clause 0 a=value.0
        value.1 is Cons:
          clause 1 a=value.0 b=value.1.0
      else:
        clause 2
      "
    `);
  });

  test('a tuple is no test; a place is tested once on each path', () => {
    const both = tuplePattern([cons(a, wildcard()), cons(b, wildcard())]);
    expect(build(both, tuplePattern([NIL, NIL]), wildcard())).toMatchInlineSnapshot(`
      "
      value.0 is Cons:
        value.1 is Cons:
          clause 0 a=value.0.0 b=value.1.0
        else:
          clause 2
      value.0 is Nil:
        value.1 is Nil:
          clause 1
        else:
          clause 2
      "
    `);
  });

  test('a value that no clause fits, clauses that never come', () => {
    expect(build(constructorPattern('Red'), constructorPattern('Blue'))).toMatchInlineSnapshot(`
      "
      value is Red:
        clause 0
      value is Blue:
        clause 1
      else:
        fail
      "
    `);
    expect(build(a, NIL)).toMatchInlineSnapshot(`
      "
      clause 0 a=value
      "
    `);
    expect(build()).toMatchInlineSnapshot(`
      "
      fail
      "
    `);
  });

  test('a number is compared with each literal once', () => {
    const three = intPattern(3);
    expect(
      build(cons(three, NIL), cons(intPattern(4), NIL), cons(three, a), wildcard()),
    ).toMatchInlineSnapshot(`
      "
      value is Cons:
        value.0 = 3:
          value.1 is Nil:
            clause 0
          else:
            clause 2 a=value.1
        else:
          value.0 = 4:
            value.1 is Nil:
              clause 1
            else:
              clause 3
          else:
            clause 3
      else:
        clause 3
      "
    `);
  });

  test('the only constructor of its type', () => {
    expect(build(constructorPattern('Box', [a]))).toMatchInlineSnapshot(`
      "
      value is Box:
        clause 0 a=value.0
      "
    `);
  });

  test('patterns 2,000 deep', () => {
    let deep: Pattern = wildcard();
    for (let i = 0; i < 2000; i++) deep = cons(wildcard(), deep);
    const { clauses } = match(int(0), [[deep, int(0)]]);
    const definition = TYPES[0];
    if (definition === undefined) throw new Error('no type');
    let tree = buildDecisionTree(new Occurrence(), clauses, () => definition);
    let depth = 0;
    for (; tree.kind === 'switch'; depth++) tree = tree.cases[0]?.tree ?? { kind: 'fail' };
    expect([depth, tree.kind]).toEqual([2000, 'leaf']);
  });
});
