import { expect, test } from 'vitest';
import { foldParts, foldValues, type ValueSide } from './value-fold.ts';

interface Node {
  readonly name: string;
  readonly parts?: readonly Node[];
}

function namesOf(roots: readonly Node[]): string[] {
  const names: string[] = [];
  const visit = foldParts<Node, void>(
    ({ parts }) => parts,
    ({ name }) => {
      names.push(name);
    },
  );
  for (const root of roots) visit(root);
  return names;
}

test('parts come first: those with parts of their own from the last one, the others in order', () => {
  const deep = { name: 'd', parts: [{ name: 'x' }, { name: 'y' }] };
  const root = { name: 'r', parts: [{ name: 'a' }, { name: 'c', parts: [] }, { name: 'b' }, deep] };
  expect(namesOf([root])).toEqual(['x', 'y', 'd', 'c', 'a', 'b', 'r']);
});

test('what is shared is converted once, also under another root', () => {
  const leaf = { name: 'l' };
  const shared = { name: 's', parts: [leaf, leaf] };
  const root = { name: 'r', parts: [shared, leaf, shared] };
  expect(namesOf([root, shared, leaf, { name: 'q', parts: [shared] }])).toEqual([
    'l',
    's',
    'r',
    'q',
  ]);
});

test('a list of a million cells, and a value that holds another twice a thousand times over', () => {
  const count = foldParts<Node, number>(
    ({ parts }) => parts,
    (_, parts) => parts.reduce((sum, part) => sum + part, 1),
  );
  let list: Node = { name: 'end' };
  for (let cell = 0; cell < 1e6; cell++) list = { name: 'cell', parts: [list] };
  expect(count(list)).toBe(1e6 + 1);
  let twice: Node = { name: 'end' };
  for (let level = 0; level < 1000; level++) twice = { name: 'pair', parts: [twice, twice] };
  expect(count(twice)).toBe(2 ** 1001);
});

interface Forms {
  readonly null: never;
  readonly int: number;
  readonly float: never;
  readonly string: string;
  readonly dtype: never;
  readonly shape: never;
  readonly tensor: never;
  readonly handle: never;
  readonly adt: readonly (number | string)[];
  readonly closure: never;
  readonly packed: never;
  readonly opaque: never;
  readonly storage: never;
  readonly heap: never;
  readonly vm: never;
}

const SIDE: ValueSide<Forms> = {
  kindOf: (value) => {
    if (typeof value === 'number') return 'int';
    return typeof value === 'string' ? 'string' : 'adt';
  },
  partsOf: (value) => (typeof value === 'object' ? value : undefined),
};

test('each kind goes to its case', () => {
  const text = foldValues<Forms, string>(SIDE, {
    int: (value) => `int ${value}`,
    string: (value) => JSON.stringify(value),
    adt: (_, parts) => `(${parts.join(', ')})`,
  });
  expect(text([1, 'a', 2])).toBe('(int 1, "a", int 2)');
  expect(text('a')).toBe('"a"');
  // @ts-expect-error A case for a kind of the side is missing.
  foldValues<Forms, string>(SIDE, { int: () => '', adt: () => '' });
});
