import { expect, test } from 'vitest';
import { withoutCases } from './drop-op-cases.ts';

test('withoutCases empties the cases of object literals and leaves the rest', () => {
  const source = `export const relu: OpDefinition = defineOp({
  name: 'relu',
  cases: () => [...unaryCases(), { title: 'cases: all', inputs: [] }],
  badCases() {
    return [{ title: 'none', inputs: [] as const }];
  },
});
const spec = { cases: [one, two], wgsl: (x: string) => x };
const { cases, badCases } = spec;
export const other = { cases, badCases };
interface Spec { cases(): void }
`;
  expect(withoutCases(source, 'relu.ts')).toMatchInlineSnapshot(`
    "export const relu: OpDefinition = defineOp({
      name: 'relu',
      cases: () => [],
      badCases: () => [],
    });
    const spec = { cases: [], wgsl: (x: string) => x };
    const { cases, badCases } = spec;
    export const other = { cases, badCases };
    interface Spec { cases(): void }
    "
  `);
});
