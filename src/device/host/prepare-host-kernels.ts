import { concreteShape } from '../../core/dim.ts';
import { UnsupportedError, WeftError } from '../../core/errors.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../core/primitive-function.ts';
import { hostRefusal } from '../../ops/program/wgsl-kernel.reference.ts';
import { refuseProgramKernels } from '../../ops/program/wgsl-kernel.ts';
import { OPS } from '../../ops/registry.ts';
import type { PrepareOptions } from '../device.ts';
import { HostKernel, type HostKernelContext } from './host-kernel.ts';
import { planOnHost } from './host-plan.ts';

export interface HostKernelsOptions extends Pick<PrepareOptions, 'onProgress' | 'programKernels'> {
  /** For messages. */
  readonly deviceName: string;
  readonly context: HostKernelContext;
}

/**
 * The kernels of primitive functions by name. Throws UnsupportedError that names every primitive
 * the host cannot run.
 */
export function prepareHostKernels(
  primitives: readonly PrimitiveFunction[],
  { deviceName, context, onProgress, programKernels }: HostKernelsOptions,
): Map<string, HostKernel> {
  if (programKernels === 'refuse') refuseProgramKernels(primitives);
  refuseUnsupported(primitives, deviceName);
  const kernels = new Map<string, HostKernel>();
  onProgress?.(0, primitives.length);
  for (const primitive of primitives) {
    kernels.set(primitive.name, new HostKernel(primitive, context));
    onProgress?.(kernels.size, primitives.length);
  }
  return kernels;
}

function refuseUnsupported(primitives: readonly PrimitiveFunction[], deviceName: string): void {
  const reasons = new Map<string, string>();
  for (const primitive of primitives) {
    const reason = refusal(primitive);
    if (reason !== undefined) reasons.set(primitive.name, reason);
  }
  if (reasons.size === 0) return;
  const lines = Array.from(reasons, ([name, reason]) => `  ${name}: ${reason}`);
  throw new UnsupportedError(
    `The ${deviceName} device cannot run ${reasons.size} of ${primitives.length} primitive ` +
      `functions:\n${lines.join('\n')}`,
    { details: { primitives: [...reasons.keys()] } },
  );
}

function refusal(primitive: PrimitiveFunction): string | undefined {
  const unknown = new Set(primitive.body.map(({ op }) => op).filter((op) => !OPS.has(op)));
  if (unknown.size > 0) return `no operator ${[...unknown].join(', ')}`;
  const ownReason = hostRefusal(primitive);
  if (ownReason !== undefined) return ownReason;
  const params: ConcreteTensorType[] = [];
  for (const { dtype, shape } of primitive.params) {
    const concrete = concreteShape(shape);
    // Symbolic shapes are checked when they are known, at the launch.
    if (concrete === undefined) return undefined;
    params.push({ dtype, shape: concrete });
  }
  const results = primitive.results.map(({ type }) => concreteShape(type.shape));
  if (results.includes(undefined)) return undefined;
  try {
    planOnHost(primitive, params);
    return undefined;
  } catch (error) {
    if (error instanceof WeftError) return error.message;
    throw error;
  }
}
