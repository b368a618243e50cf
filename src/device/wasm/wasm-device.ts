import { loadDoubles } from '../../ops/formula/find-intrinsic.ts';
import { loadLowerings } from '../../ops/wasm-lowerings.ts';
import { internalError, WeftError } from '../../core/errors.ts';
import { KERNEL_OPS } from '../../ops/kernel-ops.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import type { FunctionGroup } from '../../wasm/encode-module.ts';
import type { Device } from '../device.ts';
import { type MakeAlone, ProcessorDevice } from '../host/processor-device.ts';
import { checkEngine, hasRelaxedSimd } from './check-engine.ts';
import { CompiledStep, type StepMachine } from './compiled-step.ts';
import type { MemoryChecks } from './memory-checks.ts';
import { type LoadedCode, ModuleCompiler } from './module-compiler.ts';
import { LaunchRecorder, type RecordedDevice } from './launch-recorder.ts';
import { PackedConstants } from './packed-constants.ts';
import type { StepPlan } from './step-plan.ts';
import { type StartThread, ThreadPool, type ThreadPoolOptions } from './threads/thread-pool.ts';
import { WasmKernel } from './wasm-kernel.ts';
import { MAX_BYTE_LENGTH, WasmMemory, type WasmMemoryLimits } from './wasm-memory.ts';

export interface WasmDeviceOptions extends Partial<WasmMemoryLimits> {
  /** Default: the core operators. */
  readonly operators?: OperatorTable | undefined;
  /** Whether kernels use relaxed SIMD; default: where the engine has it. */
  readonly relaxedSimd?: boolean;
  /** Threads that share the work of kernels, this one included; default 1. More need memory that may be shared. */
  readonly threads?: number;
  /** Starts a thread beside this one. Without it there are none. */
  readonly startThread?: StartThread;
  /** Whether threads share all steps that they can, from the first run on, instead of where it pays. */
  readonly sharesAll?: boolean;
  /** Asked before each load and store of kernels, in this thread only; for tests. */
  readonly checks?: MemoryChecks;
}

/** To share less work takes longer than to do it. */
const LEAST_SHARED_WORK = 2 ** 17;

/**
 * A device that runs WebAssembly, generated from the primitive functions of a program; what has no
 * lowering runs its reference in the same memory. Throws DeviceError where the engine lacks SIMD, or the
 * page's policy forbids WebAssembly.
 */
export function createWasmDevice({
  byteBudget,
  operators,
  relaxedSimd = true,
  threads = 1,
  startThread,
  sharesAll = false,
  checks,
}: WasmDeviceOptions = {}): Device {
  checkEngine();
  const count = startThread === undefined ? 0 : threads - 1;
  const memory = new WasmMemory({
    byteBudget: byteBudget ?? MAX_BYTE_LENGTH,
    isShared: count > 0,
  });
  const pool =
    startThread && count > 0
      ? poolOver(memory, { count, startThread, isAwaited: sharesAll })
      : undefined;
  const compiler = new ModuleCompiler({
    memory: memory.memory,
    threads: pool,
    isRelaxed: relaxedSimd && hasRelaxedSimd(),
    checks,
  });
  const machine: StepMachine = {
    packed: new PackedConstants(memory),
    checks,
    threads: pool,
    get recording() {
      return recorded.recording;
    },
    leastSharedWork: sharesAll ? 0 : LEAST_SHARED_WORK,
    get bytes() {
      return memory.bytes;
    },
    scratch: (slot, byteLength) => memory.scratchAddress(slot, byteLength),
    compileNow: (plans) => compiledSteps(plans, compiler.compileNow(groupsOf(plans)), machine),
  };
  const recorded: RecordedDevice = {
    memory,
    recording: undefined,
    isProfiled: () => device.isProfiled,
    launched: (launches) => device.launched(launches),
    copy: (from, to) => device.copy(from, to),
    write: ({ buffer, byteOffset }, bytes) => device.write(buffer, byteOffset, bytes),
  };
  const device = new ProcessorDevice({
    kind: 'wasm',
    info: {
      name: 'wasm',
      vendor: '',
      architecture: '',
      adapterClass: 'wasm',
      maxBufferByteLength: MAX_BYTE_LENGTH,
      get threads() {
        return pool === undefined || pool.isBroken ? 1 : threads;
      },
    },
    memory,
    operators,
    makeAlone: aloneMaker(compiler, machine, operators ?? KERNEL_OPS),
    makeKernels: async (primitives, context, references) => {
      await loadDoubles();
      const whole = { ...context, machine, references };
      const kernels = primitives.map((primitive) => new WasmKernel(primitive, whole));
      return compileAhead(kernels, compiler, machine);
    },
    onDestroy: () => pool?.dispose(),
    recordings: {
      get current() {
        return recorded.recording;
      },
      begin: () => new LaunchRecorder(recorded),
    },
  });
  return device;
}

function poolOver(
  memory: WasmMemory,
  options: Pick<ThreadPoolOptions, 'count' | 'startThread' | 'isAwaited'>,
): ThreadPool {
  return new ThreadPool({
    ...options,
    memory: memory.memory,
    allocate(byteLength) {
      const buffer = memory.create(byteLength);
      return {
        address: buffer.begin,
        bytes: new Uint8Array(memory.bytes, buffer.begin, byteLength),
        free: () => buffer.destroy(),
      };
    },
  });
}

/** Makes kernels that need no references; what is not in order is left to those that know what to say. */
function aloneMaker(
  compiler: ModuleCompiler,
  machine: StepMachine,
  operators: OperatorTable,
): MakeAlone {
  return async (primitives, services, { onProgress }) => {
    const names = new Set(primitives.flatMap(({ body }) => body.map(({ op }) => op)));
    await loadLowerings(names);
    const isKnown = [...names].every((name) => operators.get(name) !== undefined);
    if (names.has(PROGRAM_KERNEL) || !isKnown) return undefined;
    const context = { ...services, operators, machine, references: undefined };
    const kernels = primitives.map((primitive) => new WasmKernel(primitive, context));
    const needsMore = () => kernels.some((kernel) => kernel.needsReferences());
    try {
      if (needsMore()) {
        await loadDoubles();
        if (needsMore()) return undefined;
      }
    } catch (error) {
      if (error instanceof WeftError) return undefined;
      throw error;
    }
    onProgress?.(0, primitives.length);
    const ready = await compileAhead(kernels, compiler, machine);
    onProgress?.(primitives.length, primitives.length);
    return ready;
  };
}

/** A program's own WGSL. */
const PROGRAM_KERNEL = 'wgsl_kernel';

/** Makes code of what has known shapes, in one module. */
async function compileAhead(
  kernels: readonly WasmKernel[],
  compiler: ModuleCompiler,
  machine: StepMachine,
): Promise<readonly WasmKernel[]> {
  await machine.threads?.ready();
  const planned = kernels.map((kernel) => kernel.planAhead());
  const plans = planned.flatMap((one) => one?.steps ?? []);
  const steps = compiledSteps(plans, await compiler.compile(groupsOf(plans)), machine);
  let at = 0;
  for (const [i, kernel] of kernels.entries()) {
    const one = planned[i];
    if (one === undefined) continue;
    kernel.take(one, steps.slice(at, at + one.steps.length));
    at += one.steps.length;
  }
  return kernels;
}

/** The functions of steps: for each those of its packs, then its own. */
function groupsOf(plans: readonly (StepPlan | undefined)[]): readonly FunctionGroup[] {
  return plans.flatMap((plan) => {
    if (plan === undefined) return [];
    const { packs, functions, params, body } = plan;
    const step = [...functions, { name: 'step', params, body }];
    return [...packs.map((pack) => pack.functions), step];
  });
}

/** Steps with the functions of {@link groupsOf}, in the same order. */
function compiledSteps(
  plans: readonly (StepPlan | undefined)[],
  codes: readonly LoadedCode[],
  machine: StepMachine,
): readonly (CompiledStep | undefined)[] {
  let at = 0;
  return plans.map((plan) => {
    if (plan === undefined) return undefined;
    const packs = codes.slice(at, at + plan.packs.length);
    at += plan.packs.length;
    const step = codes[at++];
    if (step === undefined) throw internalError('a step without its function');
    return new CompiledStep(plan, { step, packs }, machine);
  });
}
