import type { BytecodeFunction, ExecutableData } from '../../bytecode/executable.ts';
import { argumentValue, decodeRange, Opcode } from '../../bytecode/isa.ts';
import type { LaunchAmount } from '../../core/contracts/device-rates.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { WeftError } from '../../core/errors.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { RepresentativeSizes } from '../../core/dims/representative-sizes.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { planOnHost, type PlannedCall } from '../../device/host/host-plan.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { operatorWork } from '../../ops/tables/work.ts';
import { WGSL_KERNEL } from '../../ops/program/wgsl-kernel.ts';

interface LaunchWork extends LaunchAmount {
  /** How often they are launched. */
  readonly count: number;
}

export interface ProgramWork {
  readonly launches: readonly LaunchWork[];
  /** Those that WebGPU cannot do. */
  readonly onHost: readonly LaunchWork[];
}

/**
 * The work of one call of `main`, or of the first function: each instruction counts once, whatever
 * branches and loops do. Batches are 1, other symbols 128. Undefined where nobody can tell, or only WebGPU
 * can run the program. Pure.
 */
export function programWork(
  executable: ExecutableData,
  operators: OperatorTable,
): ProgramWork | undefined {
  const { functions, primitives } = executable;
  const main = functions.find(({ name }) => name === 'main') ?? functions[0];
  if (main === undefined) return undefined;
  const counts = callCounts(executable, main);
  const params = main.signature?.params ?? [];
  const sizes = new RepresentativeSizes(params.filter((type) => type.kind === 'tensor'));
  const work = { launches: [] as LaunchWork[], onHost: [] as LaunchWork[] };
  for (const primitive of primitives) {
    const count = counts.get(primitive.name);
    if (count === undefined) continue;
    const one = primitiveWork(primitive, operators, sizes);
    if (one === undefined) return undefined;
    (primitive.device === 'host' ? work.onHost : work.launches).push({ count, ...one });
  }
  return work;
}

type CallCounts = ReadonlyMap<string, number>;

/** Of one function and of what it calls, each of which is looked at once. */
export function callCounts(
  executable: ExecutableData,
  { name, codeStart, codeLength }: BytecodeFunction,
  known = new Map<string, CallCounts>(),
): CallCounts {
  const counts = new Map<string, number>();
  // A recursion finds nothing yet, so that it counts once.
  known.set(name, new Map());
  const add = (primitive: string, count: number): void => {
    counts.set(primitive, (counts.get(primitive) ?? 0) + count);
  };
  const { code, functionTable, functions } = executable;
  for (const { spec, operands } of decodeRange(code, codeStart, codeStart + codeLength)) {
    if (spec.opcode !== Opcode.call) continue;
    const entry = functionTable[argumentValue(operands[1] ?? 0)];
    if (entry?.kind === 'primitive') add(entry.name, 1);
    if (entry?.kind !== 'bytecode') continue;
    const callee = functions.find((other) => other.name === entry.name);
    if (callee === undefined) continue;
    const called = known.get(entry.name) ?? callCounts(executable, callee, known);
    for (const [primitive, count] of called) add(primitive, count);
  }
  known.set(name, counts);
  return counts;
}

/** Types of the inputs and shapes of the results of a launch. */
interface LaunchSizes {
  readonly inputs: readonly ConcreteTensorType[];
  /** Shapes of the results that the launch has room for. */
  readonly results: readonly Shape[];
}

/** The work of one launch of representative sizes; undefined where nobody can tell. */
export function primitiveWork(
  primitive: PrimitiveFunction,
  operators: OperatorTable,
  sizes: RepresentativeSizes,
): LaunchAmount | undefined {
  const { params, results } = primitive;
  const inputs = params.map(({ dtype, shape }) => ({ dtype, shape: sizes.shape(shape) }));
  const shapes = results.map(({ type }) => sizes.shape(type.shape));
  return launchWork(primitive, operators, { inputs, results: shapes });
}

/** The work of one launch of these sizes; undefined where nobody can tell. */
export function launchWork(
  primitive: PrimitiveFunction,
  operators: OperatorTable,
  { inputs, results }: LaunchSizes,
): LaunchAmount | undefined {
  const { body } = primitive;
  if (body.some(({ op }) => op === WGSL_KERNEL || operators.get(op) === undefined))
    return undefined;
  try {
    const plan = planOnHost(primitive, inputs, { operators, results });
    const calls = plan.steps.flatMap((step) => (step.kind === 'chain' ? step.calls : [step.call]));
    return {
      operations: calls.reduce((sum, call) => sum + callWork(call, plan.types), 0),
      bytes: [...plan.stored].reduce((sum, value) => sum + byteLengthOf(plan.types[value]), 0),
    };
  } catch (error) {
    // Sizes that do not go together.
    if (error instanceof WeftError) return undefined;
    throw error;
  }
}

function callWork(call: PlannedCall, types: readonly ConcreteTensorType[]): number {
  const output = types[call.value];
  if (output === undefined) return 0;
  const inputs = call.inputs.map((value) => (value < 0 ? undefined : types[value]));
  return operatorWork(call.op, { inputs, output, attributes: call.attributes });
}

function byteLengthOf(type: ConcreteTensorType | undefined): number {
  return type === undefined ? 0 : storageByteLength(type.dtype, elementCount(type.shape));
}
