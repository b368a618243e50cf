import type { DType } from '../../core/tensor/dtype.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpDefinition } from '../define-op.ts';

/** dtypes that WebGPU kernels read and write. Tensors of others are bytes there, which none reads. */
export const KERNEL_DTYPES: ReadonlySet<DType> = new Set<DType>([
  'float32',
  'float16',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'bool',
]);

/** A call as far as its placement depends on it. */
interface PlacedTypes {
  /** dtypes of the inputs; absent optional inputs are undefined. */
  readonly inputs: readonly (DType | undefined)[];
  readonly output: DType;
  readonly attributes: Attributes;
}

/**
 * Why a call has to run on the host, in words that follow "because"; undefined where WebGPU has
 * kernels for it on every adapter.
 */
export function hostReason(op: OpDefinition, call: PlacedTypes): string | undefined {
  if (op.hostOnlyBecause !== undefined) return op.hostOnlyBecause;
  if (op.kind === 'opaque') return 'it has no kernel';
  const dtype = [...call.inputs, call.output].find(
    (used) => used !== undefined && !KERNEL_DTYPES.has(used),
  );
  return dtype === undefined ? undefined : `WebGPU has no kernels for ${dtype}`;
}
