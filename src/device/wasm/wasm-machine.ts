import type { CompilationLog } from '../device-events.ts';
import { internalError } from '../../core/errors.ts';
import type { FunctionGroup } from '../../wasm/encode-module.ts';
import type { PrepackingBudget } from '../device.ts';
import { hasByteProducts, hasRelaxedSimd } from './check-engine.ts';
import { CompiledStep, type StepMachine } from './compiled-step.ts';
import type { LaunchRecorder, RecordedMachine } from './launch-recorder.ts';
import { type MemoryChecks, type LoadedCode, ModuleCompiler } from './module-compiler.ts';
import { PackedConstants } from './memory/packed-constants.ts';
import type { CreateDistributor, StepDistributor } from './step-distributor.ts';
import type { StepPlan } from './step-plan.ts';
import type { CreateThreads } from './threads/shared-threads.ts';
import type { ThreadPool } from './threads/thread-pool.ts';
import { MAX_BYTE_LENGTH } from './memory/address-space.ts';
import { WasmMemory, type WasmMemoryLimits } from './memory/wasm-memory.ts';

export interface WasmMachineOptions extends Partial<WasmMemoryLimits> {
  /** Lets kernels use relaxed SIMD. Default: where the engine has it. */
  readonly relaxedSimd?: boolean;
  /** Threads that share the work of kernels; their memory has to be one that may be shared. Without it one does all. */
  readonly createThreads?: CreateThreads | undefined;
  /** In place of {@link createThreads}, where memory cannot be shared. */
  readonly createDistributor?: CreateDistributor | undefined;
  /** Asked before each load and store of kernels, in this thread only; for tests. */
  readonly checks?: MemoryChecks;
}

/** Plans, undefined where references do the step. */
type Plans = readonly (StepPlan | undefined)[];
type Steps = readonly (CompiledStep | undefined)[];

/** One linear memory with the threads and the modules that work in it. */
export class WasmMachine implements StepMachine, RecordedMachine {
  readonly memory: WasmMemory;
  readonly packed: PackedConstants;
  readonly checks: MemoryChecks | undefined;
  readonly threads: ThreadPool | undefined;
  readonly distributor: StepDistributor | undefined;
  recording: LaunchRecorder | undefined;
  readonly #isRelaxed: boolean;
  #multipliesBytes: boolean | undefined;
  readonly #compiler: ModuleCompiler;

  constructor(options: WasmMachineOptions) {
    const { relaxedSimd = true, checks, byteBudget = MAX_BYTE_LENGTH, createThreads } = options;
    this.memory = new WasmMemory({ byteBudget, isShared: createThreads !== undefined });
    this.distributor = checks ? undefined : options.createDistributor?.(this.memory);
    this.memory.submit = this.submit;
    this.packed = new PackedConstants(this.memory);
    this.checks = checks;
    this.threads = createThreads?.(this.memory);
    this.#isRelaxed = relaxedSimd && hasRelaxedSimd();
    this.#compiler = new ModuleCompiler({
      memory: this.memory.memory,
      threads: this.threads,
      isRelaxed: this.#isRelaxed,
      checks,
    });
  }

  get log(): CompilationLog {
    return this.#compiler.log;
  }

  /** True if kernels may multiply bytes by relaxed SIMD. */
  get multipliesBytes(): boolean {
    return (this.#multipliesBytes ??= this.#isRelaxed && hasByteProducts());
  }

  get bytes(): ArrayBuffer {
    return this.memory.bytes;
  }

  /** Threads that work at the moment, or will. */
  get threadCount(): number {
    const { distributor, threads } = this;
    if (distributor !== undefined) return distributor.threadCount;
    return threads === undefined || threads.isBroken ? 1 : threads.count + 1;
  }

  get isImmediate(): boolean {
    return this.recording === undefined && this.distributor?.isIdle !== false;
  }

  /** Does something in order with launches. */
  readonly submit = (task: () => void): void => {
    if (this.distributor === undefined) task();
    else this.distributor.submit(task);
  };

  scratch(slot: number, byteLength: number): number {
    return this.memory.scratchAddress(slot, byteLength);
  }

  /** Steps of plans, in one module, without holding the thread while the engine compiles. */
  async compile(plans: Plans, prepacking: PrepackingBudget | undefined): Promise<Steps> {
    return this.#stepsOf(plans, await this.#compiler.compile(groupsOf(plans)), prepacking);
  }

  compileNow(plans: Plans, prepacking: PrepackingBudget | undefined): Steps {
    return this.#stepsOf(plans, this.#compiler.compileNow(groupsOf(plans)), prepacking);
  }

  /** Steps of the plans, with the functions of {@link groupsOf} in the same order. */
  #stepsOf(
    plans: Plans,
    codes: readonly LoadedCode[],
    prepacking: PrepackingBudget | undefined,
  ): Steps {
    let at = 0;
    return plans.map((plan) => {
      if (plan === undefined) return undefined;
      const packs = codes.slice(at, at + plan.packs.length);
      at += plan.packs.length;
      const step = codes[at++];
      if (step === undefined) throw internalError('a step without its function');
      return new CompiledStep(plan, { step, packs, prepacking }, this);
    });
  }
}

/** The functions of steps: for each those of its packs, then its own. */
function groupsOf(plans: Plans): readonly FunctionGroup[] {
  return plans.flatMap((plan) => {
    if (plan === undefined) return [];
    const { packs, functions, params, body } = plan;
    const step = [...functions, { name: 'step', params, body }];
    return [...packs.map((pack) => pack.functions), step];
  });
}
