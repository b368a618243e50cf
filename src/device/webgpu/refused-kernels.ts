import { formatDim } from '../../core/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/primitive-function.ts';

export interface Refusal {
  readonly primitive: PrimitiveFunction;
  readonly reason: string;
}

/** Names what cannot run. A file of its own, loaded when there is any. */
export function refused(
  refusals: readonly Refusal[],
  of: number,
  adapterName: string,
): UnsupportedError {
  const lines = refusals.map(({ primitive, reason }) => `  ${signatureOf(primitive)}: ${reason}`);
  return new UnsupportedError(
    `WebGPU (${adapterName}) cannot run ${refusals.length} of ${of} kernels:\n` +
      `${lines.join('\n')}\nCompile the program so that they run on the host device.`,
    { details: { primitives: refusals.map(({ primitive }) => primitive.name) } },
  );
}

function signatureOf({ name, params }: PrimitiveFunction): string {
  const types = params.map(({ dtype, shape }) => `${dtype}[${shape.map(formatDim).join(', ')}]`);
  return `${name}(${types.join(', ')})`;
}
