import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { referenceResult } from '../../ops/compute-reference.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import type { Operator } from '../../ops/operator.ts';
import { opReference } from '../../ops/tables/references.ts';

/** The type of an operator's result. Throws ShapeError or UnsupportedError. */
export function inferOperator(
  op: Operator,
  inputs: readonly ConcreteTensorType[],
  attributes: Attributes,
): ConcreteTensorType {
  return inferConcreteCall(op, inputs, attributes).output;
}

/** The result of an operator on constants, by its host reference, which it has to have. Throws as {@link inferOperator}. */
export function evaluateCall(
  op: Operator,
  inputs: readonly HostTensor[],
  attributes: Attributes,
): HostTensor {
  const call = inferConcreteCall(op, inputs, attributes);
  const whole = inputs.map(withAllElements);
  return referenceResult(op, opReference(op), { ...call, inputs: whole });
}

/** References read every element, and a splat stores only one. */
function withAllElements(tensor: HostTensor): HostTensor {
  return tensor.isSplat ? new HostTensor(tensor.dtype, tensor.shape, tensor.data) : tensor;
}
