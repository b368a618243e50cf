import { formatDim } from '../../../core/dims/dim.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import { lacksOperator, PASS_OPERATORS } from '../../missing-operators.ts';
import type { OperatorTable } from '../../../ops/operator.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';

export interface Refusal {
  readonly primitive: PrimitiveFunction;
  readonly reason: string;
}

/** Names what cannot run. A file of its own, loaded when there is any. */
export function refused(
  refusals: readonly Refusal[],
  {
    count,
    adapterName,
    operators,
  }: {
    /** How many primitives the program has. */
    readonly count: number;
    readonly adapterName: string;
    readonly operators: OperatorTable | undefined;
  },
): UnsupportedError {
  const isMissing = refusals.map(
    ({ primitive }) => operators !== undefined && lacksOperator(primitive, operators),
  );
  const remedies = [
    ...(isMissing.includes(true) ? [PASS_OPERATORS] : []),
    ...(isMissing.includes(false)
      ? ['Compile the program so that they run on the host device.']
      : []),
  ];
  const lines = refusals.map(({ primitive, reason }) => `  ${signatureOf(primitive)}: ${reason}`);
  return new UnsupportedError(
    `WebGPU (${adapterName}) cannot run ${refusals.length} of ${count} kernels:\n` +
      [...lines, ...remedies].join('\n'),
    { details: { primitives: refusals.map(({ primitive }) => primitive.name) } },
  );
}

function signatureOf({ name, params }: PrimitiveFunction): string {
  const types = params.map(({ dtype, shape }) => `${dtype}[${shape.map(formatDim).join(', ')}]`);
  return `${name}(${types.join(', ')})`;
}
