import { UnsupportedError } from '../../core/errors.ts';
import { completeAttributes } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import type { AdjointCall } from './adjoint.ts';
import type { GraphTensor } from './graph-target.ts';

/**
 * The cotangents of a call's inputs; undefined for zero. Inputs that are no floats have none.
 * Throws UnsupportedError, which names the operator, where there is no adjoint.
 */
export function applyAdjoint(
  name: string,
  call: AdjointCall,
): readonly (GraphTensor | undefined)[] {
  const { op, adjoint } = call.lookup(name);
  if (adjoint === undefined) {
    throw new UnsupportedError({
      where: name,
      got: 'a derivative of it',
      expected: 'an operator with an adjoint',
      remedy: 'Put it into a function and give that an adjoint with custom_gradient.',
    });
  }
  if (typeof adjoint === 'string') return [];
  const wants = (input: number): boolean => {
    const dtype = call.inputs[input]?.dtype;
    return dtype !== undefined && isFloat(dtype) && call.wants(input);
  };
  const attributes = completeAttributes(op, call.attributes);
  const cotangents = adjoint({ ...call, attributes, wants });
  return call.inputs.map((_, input) => (wants(input) ? cotangents[input] : undefined));
}
