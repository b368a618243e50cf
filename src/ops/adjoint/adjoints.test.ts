import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../core/random.ts';
import { CORE_OPERATORS } from '../tables/core-operators.ts';
import { checkAdjoint } from '../testing/check-adjoint.ts';
import { testedOp } from '../testing/tested-ops.ts';
import { adjointOf } from '../tables/adjoints.ts';

describe('adjoints agree with central differences and with forward mode', () => {
  const rules = [...CORE_OPERATORS].filter((op) => typeof adjointOf(op) === 'function');

  it.each(rules.map((op) => op.name))('%s', (name) => {
    const op = CORE_OPERATORS.require(name);
    const random = seededRandom(7);
    let compared = 0;
    for (const opCase of testedOp(name).cases()) {
      const outcome = checkAdjoint(op, opCase, random);
      if ('compared' in outcome) compared += outcome.compared;
    }
    // A constant and results that are integers have nothing to compare.
    expect(compared > 0).toBe(!['full', 'quantize'].includes(name));
  });
});

it('every operator has an adjoint, or says that there is none, but for these', () => {
  const without = [...CORE_OPERATORS].filter((op) => adjointOf(op) === undefined);
  expect(without.map(({ name }) => name)).toEqual(['wgsl_kernel', 'resize_table']);
});
