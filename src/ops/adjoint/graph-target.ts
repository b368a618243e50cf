import type { Dim } from '../../core/dims/dim.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';

/** A tensor of a graph that an adjoint builds. Sizes may be symbols. */
export interface GraphTensor {
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: readonly Dim[];
}

/** Makes the nodes of a graph: expressions of the compiler, or tensors at once. */
export interface GraphTarget {
  /** A call of an operator. Throws ShapeError. */
  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): GraphTensor;
  constant(value: HostTensor): GraphTensor;
}
