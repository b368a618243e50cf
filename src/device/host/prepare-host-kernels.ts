import { concreteShape } from '../../core/dim.ts';
import { UnsupportedError, WeftError } from '../../core/errors.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../core/primitive-function.ts';
import { hostRefusal } from '../../ops/program/wgsl-kernel.reference.ts';
import { refuseProgramKernels } from '../../ops/program/wgsl-kernel.ts';
import { CORE_OPERATORS } from '../../ops/core-operators.ts';
import { lacksOperator, PASS_OPERATORS } from '../missing-operators.ts';
import { missingOperator } from '../../ops/missing-operator.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { referenceOf } from '../../ops/references.ts';
import type { Kernel, PrepareOptions } from '../device.ts';
import { HostKernel } from './host-kernel.ts';
import { computeOnHost } from './compute-on-host.ts';
import type { KernelContext, KernelServices, References } from './kernel-context.ts';
import { runStep } from './run-step.ts';
import { planOnHost } from './host-plan.ts';

/** Kernels of primitives that were found to be in order, in their order. */
export type MakeKernels = (
  primitives: readonly PrimitiveFunction[],
  context: KernelContext,
  references: References,
) => Promise<readonly Kernel[]>;

export interface HostKernelsOptions {
  /** The name of the device in messages. */
  readonly deviceName: string;
  readonly services: KernelServices;
  /** Default: the core operators. */
  readonly operators: OperatorTable | undefined;
  /** Default: kernels of references. */
  readonly makeKernels: MakeKernels | undefined;
  readonly options: PrepareOptions;
}

/**
 * The kernels of primitive functions by name. Throws UnsupportedError that names every primitive
 * the host cannot run.
 */
export async function prepareHostKernels(
  primitives: readonly PrimitiveFunction[],
  {
    deviceName,
    services,
    options,
    operators = CORE_OPERATORS,
    makeKernels = referenceKernels,
  }: HostKernelsOptions,
): Promise<Map<string, Kernel>> {
  const { onProgress, programKernels, prepacking, precision } = options;
  if (programKernels === 'refuse') refuseProgramKernels(primitives);
  refuseUnsupported(primitives, deviceName, operators);
  onProgress?.(0, primitives.length);
  const context = { ...services, operators, prepacking, precision };
  const kernels = await makeKernels(primitives, context, REFERENCES);
  onProgress?.(primitives.length, primitives.length);
  return new Map(kernels.map((kernel) => [kernel.name, kernel]));
}

const REFERENCES: References = { runStep, computeOnHost };

const referenceKernels: MakeKernels = async (primitives, context) =>
  primitives.map((primitive) => new HostKernel(primitive, context));

function refuseUnsupported(
  primitives: readonly PrimitiveFunction[],
  deviceName: string,
  operators: OperatorTable,
): void {
  const reasons = new Map<string, string>();
  for (const primitive of primitives) {
    const reason = refusal(primitive, operators);
    if (reason !== undefined) reasons.set(primitive.name, reason);
  }
  if (reasons.size === 0) return;
  const lines = Array.from(reasons, ([name, reason]) => `  ${name}: ${reason}`);
  if (primitives.some((primitive) => lacksOperator(primitive, operators)))
    lines.push(PASS_OPERATORS);
  throw new UnsupportedError(
    `The ${deviceName} device cannot run ${reasons.size} of ${primitives.length} primitive ` +
      `functions:\n${lines.join('\n')}`,
    { details: { primitives: [...reasons.keys()] } },
  );
}

function refusal(primitive: PrimitiveFunction, operators: OperatorTable): string | undefined {
  for (const call of primitive.body) {
    const op = operators.get(call.op);
    if (op === undefined) return missingOperator(call.op);
    if (referenceOf(op) === undefined) return `operator ${op.name} has no reference for the host`;
  }
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
    planOnHost(primitive, params, { operators });
    return undefined;
  } catch (error) {
    if (error instanceof WeftError) return error.message;
    throw error;
  }
}
