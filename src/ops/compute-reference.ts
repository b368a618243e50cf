import type { DType } from '../core/dtype.ts';
import { HostTensor } from '../core/host-tensor.ts';
import type { Attributes } from '../core/primitive-function.ts';
import type { OpDefinition } from './define-op.ts';
import { convertElements } from './elementwise/convert-elements.ts';
import type { Operands } from './lowering.ts';

/** A call with its complete attributes and the tensor that takes its result. */
export interface ReferenceCall {
  readonly inputs: Operands<HostTensor>;
  readonly attributes: Attributes;
  readonly output: HostTensor;
}

/**
 * Runs an operator's reference. References that compute see float32 in place of float16 and bfloat16:
 * the result is rounded once, at the end. Those that only move elements see the bits.
 */
export function computeReference(op: OpDefinition, call: ReferenceCall): void {
  const { inputs, attributes, output } = call;
  const isHalf = [...inputs, output].some((tensor) => isHalfFloat(tensor?.dtype));
  if (!isHalf || op.kind === 'injective' || op.takesBits === true) {
    op.reference(inputs, attributes, output);
    return;
  }
  const wide = inputs.map((tensor) => tensor && widen(tensor));
  const target = isHalfFloat(output.dtype) ? HostTensor.zeros('float32', output.shape) : output;
  op.reference(wide, attributes, target);
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
