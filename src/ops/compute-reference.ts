import type { DType } from '../core/tensor/dtype.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { Attributes } from '../core/contracts/primitive-function.ts';
import type { OpDefinition } from './define-op.ts';
import { convertElements } from './elementwise/convert-elements.ts';
import type { InferredCall } from './infer-concrete-call.ts';
import type { Operands } from './lowering/lowering.ts';
import type { OpReference, StaticReference } from './op-reference.ts';

/** A call with its complete attributes and the tensor that takes its result. */
interface ReferenceCall {
  readonly inputs: Operands<HostTensor>;
  readonly attributes: Attributes;
  readonly output: HostTensor;
}

interface CheckedCall extends InferredCall<number> {
  readonly inputs: Operands<HostTensor>;
}

/** The result of an operator, in memory of its own. */
export function referenceResult(
  op: OpDefinition,
  reference: OpReference,
  { inputs, attributes, output: type }: CheckedCall,
): HostTensor {
  if ('compute' in reference) return reference.compute(inputs, attributes);
  const output = HostTensor.zeros(type.dtype, type.shape);
  computeReference(op, reference, { inputs, attributes, output });
  return output;
}

/**
 * Runs an operator's reference. References that compute see float32 in place of float16 and bfloat16:
 * the result is rounded once, at the end. Those that only move elements see the bits.
 */
export function computeReference(
  op: OpDefinition,
  reference: StaticReference,
  { inputs, attributes, output }: ReferenceCall,
): void {
  const isHalf = [...inputs, output].some((tensor) => isHalfFloat(tensor?.dtype));
  if (!isHalf || op.kind === 'injective' || reference.takesBits === true) {
    reference.reference(inputs, attributes, output);
    return;
  }
  const wide = inputs.map((tensor) => tensor && widen(tensor));
  const target = isHalfFloat(output.dtype) ? HostTensor.zeros('float32', output.shape) : output;
  reference.reference(wide, attributes, target);
  if (target !== output) convertElements(target, output, ROUNDING);
}

const ROUNDING = { saturate: false, roundMode: 'up' };

function isHalfFloat(dtype: DType | undefined): boolean {
  return dtype === 'float16' || dtype === 'bfloat16';
}

function widen(tensor: HostTensor): HostTensor {
  const { dtype, shape, elements, isSplat } = tensor;
  if (!isHalfFloat(dtype)) return tensor;
  const wide = new Float32Array(elements.length);
  const stored = new HostTensor(dtype, [elements.length], elements);
  convertElements(stored, new HostTensor('float32', [elements.length], wide), ROUNDING);
  return new HostTensor('float32', shape, wide, isSplat);
}
