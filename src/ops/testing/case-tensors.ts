import type { Dim } from '../../core/dims/dim.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { referenceResult } from '../compute-reference.ts';
import { inferConcreteCall } from '../infer-concrete-call.ts';
import { CORE_OPERATORS } from '../tables/core-operators.ts';
import { opReference } from '../tables/references.ts';

/** A case as a primitive function of one call. */
export function casePrimitive(op: OpDefinition, opCase: OpCase, name: string): PrimitiveFunction {
  const { attributes, output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
  const params = opCase.inputs.filter((input) => input !== undefined);
  let next = 0;
  const inputs = opCase.inputs.map((input) => (input === undefined ? -1 : next++));
  return {
    name,
    params: params.map(({ dtype, shape }) => ({ dtype, shape })),
    body: [{ op: op.name, inputs, attributes }],
    results: [{ value: params.length, type: { ...output, shape: output.shape.map(unknownSize) } }],
  };
}

/** Among numbers -1 stands for a size that depends on elements. */
function unknownSize(dim: number): Dim {
  return dim < 0 ? '?' : dim;
}

/** The reference's result of a case. */
export function caseResult(
  op: OpDefinition,
  opCase: OpCase,
  inputs: readonly (HostTensor | undefined)[],
): HostTensor {
  const call = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
  return referenceResult(op, opReference(CORE_OPERATORS.require(op.name)), { ...call, inputs });
}
