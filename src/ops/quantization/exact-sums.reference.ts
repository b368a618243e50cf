import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Operands } from '../lowering.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { axisSteps, type ZeroPointed } from './zero-points.ts';

/** int32 computed by the reference of an operator on floats, whose sums in double are exact. */
export function fillExactly(
  op: StaticReference,
  { operands, attributes, output }: ExactCall,
): void {
  const sums = HostTensor.zeros('float64', output.shape);
  op.reference(operands, attributes, sums);
  const { elements } = output;
  // An Int32Array keeps the low 32 bits.
  for (let i = 0; i < elements.length; i++) elements[i] = Number(sums.elements[i] ?? 0);
}

interface ExactCall {
  readonly operands: Operands<HostTensor>;
  readonly attributes: Attributes;
  readonly output: HostTensor;
}

/** Integers without their zero point and scale, as float64, in which sums of them are exact. */
export function withoutZeroPoints(
  tensors: Operands<HostTensor>,
  { input, zero, axis }: ZeroPointed,
): HostTensor {
  const x = operand(tensors, input);
  const values = Float64Array.from(x.data, Number);
  const zeros = tensors[zero]?.data;
  if (zeros !== undefined) {
    const { inner, size } = axisSteps(x.shape, axis, zeros.length);
    for (let i = 0; i < values.length; i++) {
      values[i] = (values[i] ?? 0) - Number(zeros[Math.floor(i / inner) % size] ?? 0);
    }
  }
  return new HostTensor('float64', x.shape, values);
}
