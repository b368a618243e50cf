import { HostTensor } from '../core/host-tensor.ts';
import { decodeFloat16, encodeFloat16 } from '../core/float16.ts';
import type { Attributes } from '../core/primitive-function.ts';
import type { OpDefinition } from './define-op.ts';
import type { Operands } from './lowering.ts';

/** A call with its complete attributes and the tensor that takes its result. */
export interface ReferenceCall {
  readonly inputs: Operands<HostTensor>;
  readonly attributes: Attributes;
  readonly output: HostTensor;
}

/**
 * Runs an operator's reference. References that compute see float32 in place of float16: the result
 * is rounded once, at the end. Those that only move elements see the bits.
 */
export function computeReference(op: OpDefinition, call: ReferenceCall): void {
  const { inputs, attributes, output } = call;
  const isHalf = [...inputs, output].some((tensor) => tensor?.dtype === 'float16');
  if (!isHalf || op.kind === 'injective' || op.takesBits === true) {
    op.reference(inputs, attributes, output);
    return;
  }
  const wide = inputs.map((tensor) => tensor && widen(tensor));
  const target = output.dtype === 'float16' ? HostTensor.zeros('float32', output.shape) : output;
  op.reference(wide, attributes, target);
  const { elements } = output;
  if (target !== output && elements instanceof Uint16Array) {
    encodeFloat16(Float32Array.from(target.elements, Number), elements);
  }
}

function widen(tensor: HostTensor): HostTensor {
  const { dtype, shape, elements, isSplat } = tensor;
  if (dtype !== 'float16') return tensor;
  return new HostTensor(
    'float32',
    shape,
    decodeFloat16(Uint16Array.from(elements, Number)),
    isSplat,
  );
}
