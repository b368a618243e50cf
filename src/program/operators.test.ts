import { expect, test } from 'vitest';
import { TESTED_OPS } from '../ops/testing/tested-ops.ts';
import { operatorsSource } from './testing/operators-source.ts';

test('there is a typed function for each operator of the table', async () => {
  await expect(operatorsSource(TESTED_OPS.values())).toMatchFileSnapshot('operators.ts');
});
