import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes, AttributeValue } from '../../core/contracts/primitive-function.ts';
import type { AdjointLookup } from '../adjoint/adjoint.ts';
import { adjointOf } from '../tables/adjoints.ts';
import type { GraphTarget, GraphTensor } from '../adjoint/graph-target.ts';
import { CORE_OPERATORS } from '../tables/core-operators.ts';
import { callReference } from './call-reference.ts';

/** A graph that the host computes at once, by references. */
export class EagerGraph implements GraphTarget {
  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): HostTensor {
    return callReference(op, inputs.map(asTensor), withNumbers(attributes));
  }

  constant(value: HostTensor): HostTensor {
    return value;
  }
}

/** The core operators with their adjoints. */
export const coreAdjoint: AdjointLookup = (name) => {
  const op = CORE_OPERATORS.require(name);
  return { op, adjoint: adjointOf(op) };
};

/** The elements of a tensor of an eager graph. */
export function asTensor(tensor: GraphTensor): HostTensor {
  if (!(tensor instanceof HostTensor)) throw new Error('a tensor of another graph');
  return tensor.isSplat ? new HostTensor(tensor.dtype, tensor.shape, tensor.data) : tensor;
}

function withNumbers(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes).map(([name, value]): [string, AttributeValue] => [
    name,
    Array.isArray(value) ? value.map((item: Dim) => evaluated(item)) : value,
  ]);
  return Object.fromEntries(entries);
}

function evaluated(dim: Dim): Dim {
  return typeof dim === 'object' ? CONCRETE_DIMS.of(dim) : dim;
}
