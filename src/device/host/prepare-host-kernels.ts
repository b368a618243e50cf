import type { KernelSource } from '../../core/contracts/kernel-source.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { concreteShape } from '../../core/dims/dim.ts';
import { internalError, UnsupportedError, WeftError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { bindAttributes } from '../../ops/bind-attributes.ts';
import { computeReference, referenceResult } from '../../ops/compute-reference.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import { missingOperator } from '../../ops/missing-operator.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { hostRefusal } from '../../ops/program/wgsl-kernel.reference.ts';
import { refuseProgramKernels } from '../../ops/program/wgsl-kernel.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { referenceOf, staticReference, opReference } from '../../ops/tables/references.ts';
import type { DeviceTensor, Kernel, PrepareOptions } from '../device.ts';
import { lacksOperator, PASS_OPERATORS } from '../missing-operators.ts';
import { overwrittenInput } from '../overwritten-input.ts';
import {
  type CallStep,
  concreteParams,
  type HostPlan,
  type HostStep,
  planOnHost,
  requireOperator,
} from './host-plan.ts';
import type { KernelContext, KernelServices, References } from './kernel-context.ts';
import { haveTypes, planForArguments } from './plan-for-arguments.ts';
import { runChain } from './run-chain.ts';
import { storeBack, type StoredTensor, toHostTensor } from './storage-view.ts';

interface PlannedLaunch {
  readonly types: readonly ConcreteTensorType[];
  readonly plan: HostPlan;
}

/** A primitive function made of references. Launching computes at once. */
class HostKernel implements Kernel {
  readonly name: string;
  readonly overwrites: number | undefined;
  readonly #primitive: PrimitiveFunction;
  readonly #context: KernelContext;
  readonly #reads: ReadonlySet<number>;
  /** The launch that was planned for the last call. */
  #known: PlannedLaunch | undefined;

  constructor(primitive: PrimitiveFunction, context: KernelContext) {
    this.name = primitive.name;
    this.#primitive = primitive;
    this.#context = context;
    this.overwrites = overwrittenInput(primitive, context.operators);
    this.#reads = new Set(primitive.body.flatMap(({ inputs }) => inputs));
  }

  launch(args: readonly DeviceTensor[]): void {
    const launch = this.#launchWith(args);
    const values = this.#bindValues(launch, args);
    const { plan } = launch;
    this.#context.launched();
    for (const step of plan.steps) {
      const started = performance.now();
      runStep(step, values, plan.types);
      this.#context.timings()?.push({
        primitive: this.name,
        label: step.label,
        workgroups: [1, 1, 1],
        durationMs: performance.now() - started,
        beginMs: started,
      });
    }
  }

  compute(inputs: readonly HostTensor[]): HostTensor {
    return computeOnHost(this.#primitive, inputs, this.#context);
  }

  async source(): Promise<KernelSource> {
    const { hostSource } = await import('./kernel-source.ts');
    const shapes = this.#known?.types.map(({ shape }) => shape);
    const { length } = this.#primitive.params;
    const latest = shapes && { params: shapes.slice(0, length), results: shapes.slice(length) };
    return hostSource(this.#primitive, latest, this.#context.operators);
  }

  /** The last one if the shapes are the same, else a new one. */
  #launchWith(args: readonly DeviceTensor[]): PlannedLaunch {
    if (this.#known !== undefined && haveTypes(args, this.#known.types)) return this.#known;
    const types = args.map(({ dtype, shape }) => ({ dtype, shape }));
    const plan = planForArguments(this.#primitive, types, this.#context.operators);
    // Room for temporaries now, lest to make it moves memory that a launch has found already.
    for (const [slot, byteLength] of plan.slots.entries()) this.#context.scratch(slot, byteLength);
    this.#known = { types, plan };
    return this.#known;
  }

  /** Memory of every value: arguments, destinations, temporaries. Chain-local ones have none. */
  #bindValues(
    { plan }: PlannedLaunch,
    args: readonly DeviceTensor[],
  ): (StoredTensor | undefined)[] {
    const { params, results } = this.#primitive;
    const stored = (tensor: DeviceTensor | undefined): StoredTensor | undefined =>
      tensor && {
        ...this.#context.locate(tensor),
        dtype: tensor.dtype,
        shape: tensor.shape,
      };
    // A tensor that is not read may be on another device: its shape tells a symbol.
    const values = plan.types.map((_, i) =>
      i < params.length && this.#reads.has(i) ? stored(args[i]) : undefined,
    );
    for (const [i, { value }] of results.entries()) values[value] = stored(args[params.length + i]);
    for (const { value, slot } of plan.temporaries) {
      const type = plan.types[value];
      if (type !== undefined) {
        values[value] = { ...this.#context.scratch(slot, plan.slots[slot] ?? 0), ...type };
      }
    }
    for (const [value, viewed] of plan.views) {
      const [memory, type] = [values[viewed], plan.types[value]];
      if (memory !== undefined && type !== undefined) values[value] = { ...memory, ...type };
    }
    return values;
  }
}

/** Kernels of primitives that were found to be in order, in their order. */
export type MakeKernels = (
  primitives: readonly PrimitiveFunction[],
  context: KernelContext,
  references: References,
) => Promise<readonly Kernel[]>;

interface HostKernelsOptions {
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
  const params = concreteParams(primitive);
  const results = primitive.results.map(({ type }) => concreteShape(type.shape));
  // Symbolic shapes are checked when they are known, at the launch.
  if (params === undefined || results.includes(undefined)) return undefined;
  try {
    planOnHost(primitive, params, { operators });
    return undefined;
  } catch (error) {
    if (error instanceof WeftError) return error.message;
    throw error;
  }
}

/** Does a step by references, over the memory of its values. */
function runStep(
  step: HostStep,
  values: readonly (StoredTensor | undefined)[],
  types: readonly ConcreteTensorType[],
): void {
  if (step.kind === 'chain') runChain(step, values, types);
  else runCall(step, values);
}

function runCall({ call }: CallStep, values: readonly (StoredTensor | undefined)[]): void {
  const inputs = call.inputs.map((value) => {
    const stored = values[value];
    return stored === undefined ? undefined : toHostTensor(stored);
  });
  const target = values[call.value];
  if (target === undefined) throw internalError(`value ${call.value} has no memory`);
  const output = toHostTensor(target);
  const reference = staticReference(call.op);
  computeReference(call.op, reference, { inputs, attributes: call.attributes, output });
  storeBack(output, target);
}

/** The result of a primitive of one call whose shape depends on elements. */
function computeOnHost(
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  context: KernelContext,
): HostTensor {
  const { operators } = context;
  const shapes = { params: inputs.map(({ shape }) => shape), results: [] };
  const [call] = bindAttributes(primitive, shapes, operators);
  if (call === undefined) throw internalError(`${primitive.name} has no call`);
  const op = requireOperator(operators, call.op);
  const operands = call.inputs.map((input) => inputs[input]);
  const { attributes, output } = inferConcreteCall(op, operands, call.attributes);
  context.launched();
  const started = performance.now();
  const result = referenceResult(op, opReference(op), { inputs: operands, attributes, output });
  context.timings()?.push({
    primitive: primitive.name,
    label: op.name,
    workgroups: [1, 1, 1],
    durationMs: performance.now() - started,
    beginMs: started,
  });
  return result;
}
