import { expect, test } from 'vitest';
import { withoutUnusedFields } from './drop-unused-fields.ts';

test('withoutUnusedFields takes cases and summaries out of object literals and leaves the rest', () => {
  const source = `export const relu: OpDefinition = defineOp({
  name: 'relu',
  summary: 'The larger of the element ' + 'and 0.',
  cases: () => [...unaryCases(), { title: 'cases: all', inputs: [] }],
  badCases() {
    return [{ title: 'none', inputs: [] as const }];
  },
});
const spec = { cases: [one, two], wgsl: (x: string) => x, tolerance };
const ranged = [{ range: [-1, 1], x: 1 }, { range: startRange, cases: allCases(), }];
const { cases, badCases } = spec;
export const other = { cases, badCases };
interface Spec { cases(): void }
`;
  expect(withoutUnusedFields(source, 'relu.ts')).toMatchInlineSnapshot(`
    "export const relu: OpDefinition = defineOp({
      name: 'relu',
    });
    const spec = { wgsl: (x: string) => x, tolerance };
    const ranged = [{ x: 1 }, { range: startRange, }];
    const { cases, badCases } = spec;
    export const other = {};
    interface Spec { cases(): void }
    "
  `);
});

test('without references, what computes on the host goes too', () => {
  const source = `import { applyReference, withAxis } from './reference.ts';
const scalar = { wgsl: ([x]) => \`-\${x}\`, host: ([x = 0]) => -x, hostBlock, wideHost: (x) => x };
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
    const scalar = { wgsl: ([x]) => \`-\${x}\`,};
    export const neg = defineOp({
      name: 'neg',
      host: 'only there',
      scalar,
    });
    const { reference, compute = {} } = neg;
    "
  `);
});
