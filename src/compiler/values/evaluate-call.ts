import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, ConcreteTensorType } from '../../core/primitive-function.ts';
import { referenceResult } from '../../ops/compute-reference.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import { opReference } from '../../ops/references.ts';
import { opDefinition } from '../../ops/registry.ts';

/** The type of an operator's result. Throws ShapeError or UnsupportedError. */
export function inferOperator(
  op: string,
  inputs: readonly ConcreteTensorType[],
  attributes: Attributes,
): ConcreteTensorType {
  return inferConcreteCall(opDefinition(op), inputs, attributes).output;
}

/** The result of an operator on constants, by its host reference. Throws as {@link inferOperator}. */
export function evaluateCall(
  op: string,
  inputs: readonly HostTensor[],
  attributes: Attributes,
): HostTensor {
  const definition = opDefinition(op);
  const call = inferConcreteCall(definition, inputs, attributes);
  const whole = inputs.map(withAllElements);
  return referenceResult(definition, opReference(op), { ...call, inputs: whole });
}

/** References read every element, and a splat stores only one. */
function withAllElements(tensor: HostTensor): HostTensor {
  return tensor.isSplat ? new HostTensor(tensor.dtype, tensor.shape, tensor.data) : tensor;
}
