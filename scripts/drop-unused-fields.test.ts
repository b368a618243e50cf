import { expect, test } from 'vitest';
import { withoutUnusedFields } from './drop-unused-fields.ts';

test('withoutUnusedFields empties cases and summaries of object literals and leaves the rest', () => {
  const source = `export const relu: OpDefinition = defineOp({
  name: 'relu',
  summary: 'The larger of the element ' + 'and 0.',
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
  expect(withoutUnusedFields(source, 'relu.ts')).toMatchInlineSnapshot(`
    "export const relu: OpDefinition = defineOp({
      name: 'relu',
      summary: '',
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

test('without references, what computes on the host goes too', () => {
  const source = `import { applyReference, withAxis } from './reference.ts';
const scalar = { wgsl: ([x]) => \`-\${x}\`, host: ([x = 0]) => -x, hostBlock };
export const neg = defineOp({
  name: 'neg',
  reference(inputs, attributes, output) {
    applyReference(scalar, inputs, output);
  },
  host: 'only there',
  scalar,
});
const { reference, compute = { host: withAxis } } = neg;
`;
  const kept = withoutUnusedFields(source, 'neg.ts');
  expect(kept).toBe(source);
  expect(withoutUnusedFields(source, 'neg.ts', { keepsReferences: false })).toMatchInlineSnapshot(`
    "import { applyReference, withAxis } from './reference.ts';
    const scalar = { wgsl: ([x]) => \`-\${x}\`, host: undefined, hostBlock: undefined };
    export const neg = defineOp({
      name: 'neg',
      reference: undefined,
      host: 'only there',
      scalar,
    });
    const { reference, compute = { host: undefined } } = neg;
    "
  `);
});
