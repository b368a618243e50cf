import { expect, test } from 'vitest';
import { INDEX_CHECKS } from '../core/contracts/index-checks.ts';
import { IndexChecks } from './check-indices.ts';

/** A sum of so many terms, which is nested on one side. */
function nestedSum(side: 'left' | 'right', depth: number): unknown {
  if (depth === 0) return 'n';
  const inner = nestedSum(side, depth - 1);
  return { op: 'add', left: 1, right: 1, [side]: inner };
}

const read = (below: unknown): IndexChecks =>
  new IndexChecks({
    [INDEX_CHECKS]: JSON.stringify([
      { function: 'main', parameter: 0, where: 'node "embed"', lower: [0], below: [below] },
    ]),
  });

test.each(['left', 'right'] as const)(
  'bounds that are nested on the %s are read up to a depth of 65, and refused beyond it',
  (side) => {
    expect(read(nestedSum(side, 65))).toBeInstanceOf(IndexChecks);
    expect(() => read(nestedSum(side, 66))).toThrow(
      'metadata, indices: got [{"function":"main","parameter":0,"where, expected a list of checks as JSON.',
    );
  },
);
