import { shapesOf } from '../../core/contracts/call-shapes.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { KernelSource } from '../../core/contracts/kernel-source.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { representativeShapes } from '../representative-shapes.ts';
import type { DeviceTensor, Kernel } from '../device.ts';
import { overwrittenInput } from '../overwritten-input.ts';
import { type HostPlan, type HostStep, planOnHost } from '../host/host-plan.ts';
import type { KernelContext, References } from '../host/kernel-context.ts';
import { haveTypes, planForArguments } from '../host/plan-for-arguments.ts';
import type { StoredTensor } from '../host/storage-view.ts';
import type { CompiledStep } from './compiled-step.ts';
import { isPlanned, planStep } from './plan-step.ts';
import type { PlannedKernel } from './planned-kernel.ts';
import type { WasmMachine } from './wasm-machine.ts';
import { asWasmBuffer, type WasmBuffer } from './memory/wasm-memory.ts';

export interface WasmKernelContext extends KernelContext {
  readonly machine: WasmMachine;
  /** Undefined where all steps are known to have code. */
  readonly references: References | undefined;
}

interface ReadyKernel extends PlannedKernel {
  readonly compiled: readonly (CompiledStep | undefined)[];
}

/** Whether a step has code depends on which sizes are 1, and on no others; windows may be too large for small ones. */
const SAMPLED_SIZES = [3, 64, 1024, 1];

/** Sizes of symbols whose code is kept. */
const KEPT = 8;

/** A primitive function in WebAssembly. Launching computes at once. */
export class WasmKernel implements Kernel {
  readonly name: string;
  readonly overwrites: number | undefined;
  references: readonly string[];
  readonly #primitive: PrimitiveFunction;
  readonly #context: WasmKernelContext;
  readonly #reads: ReadonlySet<number>;
  #ahead: PlannedKernel | undefined;
  /** Compiled kernels, the one that was used last first. */
  readonly #ready: ReadyKernel[] = [];
  readonly #addresses: number[] = [];

  constructor(primitive: PrimitiveFunction, context: WasmKernelContext) {
    this.name = primitive.name;
    this.#primitive = primitive;
    this.#context = context;
    this.overwrites = overwrittenInput(primitive, context.operators);
    this.references = returnsTensor(primitive) ? primitive.body.map(({ op }) => op) : [];
    this.#reads = new Set(primitive.body.flatMap(({ inputs }) => inputs));
  }

  /** The plan for the shapes that all launches have; undefined where symbols tell them. */
  planAhead(): PlannedKernel | undefined {
    if (this.#ahead?.steps.includes(undefined) === false) return this.#ahead;
    const { params, results } = this.#primitive;
    const types = [...params, ...results.map(({ type }) => type)];
    const shapes = shapesOf(this.#primitive);
    this.#ahead = shapes && this.#plan(typesOf(types, [...shapes.params, ...shapes.results]));
    return this.#ahead;
  }

  /**
   * Returns true if references are needed: for a result whose shape depends on elements, and for steps without code. Where
   * shapes have symbols, the first sizes that a call may have answer. Throws what planning throws.
   */
  needsReferences(): boolean {
    if (returnsTensor(this.#primitive)) return true;
    const ahead = this.planAhead();
    if (ahead !== undefined) return ahead.steps.includes(undefined);
    const options = { differing: true, values: SAMPLED_SIZES, hasResults: true };
    const { operators } = this.#context;
    for (const { params, results } of representativeShapes(this.#primitive, options)) {
      try {
        const types = typesOf(this.#primitive.params, params);
        const plan = planOnHost(this.#primitive, types, { operators, results });
        return !plan.steps.every((step) => isPlanned(step, plan));
      } catch (error) {
        // No call has such shapes.
        if (!(error instanceof ShapeError)) throw error;
      }
    }
    return true;
  }

  /** Takes the code of a plan, as {@link CompiledStep} has it. */
  take(planned: PlannedKernel, compiled: readonly (CompiledStep | undefined)[]): void {
    const { plan, steps } = planned;
    this.references = plan.steps.filter((_, i) => !steps[i]).map(({ label }) => label);
    this.#ready.unshift({ ...planned, compiled });
    if (this.#ready.length > KEPT) this.#ready.pop();
  }

  launch(args: readonly DeviceTensor[]): void {
    const ready = this.#readyFor(args);
    const addresses = this.#bind(ready, args);
    this.#context.launched();
    const recorded = this.#context.timings();
    const { recording } = this.#context.machine;
    recording?.addLaunch(this.#buffersOf(args));
    for (let i = 0; i < ready.plan.steps.length; i++) {
      const step = ready.plan.steps[i];
      if (step === undefined) continue;
      const started = recorded === undefined ? 0 : performance.now();
      const compiled = ready.compiled[i];
      if (compiled === undefined) this.#runReference(step, ready.plan, addresses);
      else {
        this.#check(ready, i, addresses);
        compiled.run(addresses, args, recording);
      }
      recorded?.push({
        primitive: this.name,
        label: step.label,
        workgroups: [1, 1, 1],
        durationMs: performance.now() - started,
        beginMs: started,
      });
    }
  }

  /** Allows a step its values where accesses are checked. */
  #check({ plan, steps }: ReadyKernel, i: number, addresses: readonly number[]): void {
    const { checks } = this.#context.machine;
    if (checks === undefined) return;
    checks.clear();
    for (const value of steps[i]?.values ?? []) {
      checks.allowTensor(addresses[value], plan.types[value]);
    }
  }

  compute(inputs: readonly HostTensor[]): HostTensor {
    return this.#references().computeOnHost(this.#primitive, inputs, this.#context);
  }

  async source(): Promise<KernelSource> {
    const { wasmSource } = await import('./kernel-source.ts');
    return wasmSource(this.#primitive, {
      latest: this.#ready[0],
      plan: (types) => this.#plan(types),
      operators: this.#context.operators,
    });
  }

  #references(): References {
    const { references } = this.#context;
    if (references === undefined) throw internalError(`${this.name} was made without references`);
    return references;
  }

  #readyFor(args: readonly DeviceTensor[]): ReadyKernel {
    for (let i = 0; i < this.#ready.length; i++) {
      const known = this.#ready[i];
      if (known === undefined || !haveTypes(args, known.types)) continue;
      if (i > 0) {
        this.#ready.splice(i, 1);
        this.#ready.unshift(known);
      }
      return known;
    }
    const planned = this.#plan(args.map(({ dtype, shape }) => ({ dtype, shape })));
    const { machine, prepacking } = this.#context;
    this.take(planned, machine.compileNow(planned.steps, prepacking));
    const [ready] = this.#ready;
    if (ready === undefined) throw internalError(`${this.name} has no code`);
    return ready;
  }

  #plan(types: readonly ConcreteTensorType[]): PlannedKernel {
    const plan = planForArguments(this.#primitive, types, this.#context.operators);
    const { machine, precision } = this.#context;
    const multipliesBytes = precision === 'fast' && machine.multipliesBytes;
    const context = { ...plan, precision, multipliesBytes };
    return { types, plan, steps: plan.steps.map((step) => planStep(step, context)) };
  }

  /** Addresses of all values that have memory: arguments, destinations, temporaries. */
  #bind({ plan }: ReadyKernel, args: readonly DeviceTensor[]): readonly number[] {
    const { params, results } = this.#primitive;
    const addresses = this.#addresses;
    for (let i = 0; i < params.length; i++) {
      const argument = args[i];
      // A tensor that is not read may be on another device: its shape tells a symbol.
      if (argument !== undefined && this.#reads.has(i)) addresses[i] = addressOf(argument);
    }
    for (let i = 0; i < results.length; i++) {
      const [result, target] = [results[i], args[params.length + i]];
      if (result !== undefined && target !== undefined) {
        addresses[result.value] = addressOf(target);
      }
    }
    for (let i = 0; i < plan.temporaries.length; i++) {
      const temporary = plan.temporaries[i];
      if (temporary === undefined) continue;
      const { value, slot } = temporary;
      const own = temporary.fitsResult ? this.#ownResult() : undefined;
      addresses[value] = own ?? this.#context.machine.scratch(slot, plan.slots[slot] ?? 0);
    }
    for (const [value, viewed] of plan.views) addresses[value] = addresses[viewed] ?? 0;
    return addresses;
  }

  /** The address of the result, unless it is that of an argument too, which later steps may read. */
  #ownResult(): number | undefined {
    const { params, results } = this.#primitive;
    const address = this.#addresses[results[0]?.value ?? -1];
    const isShared = params.some((_, i) => this.#reads.has(i) && this.#addresses[i] === address);
    return isShared ? undefined : address;
  }

  /** Those of tensors that are read or written. */
  #buffersOf(args: readonly DeviceTensor[]): WasmBuffer[] {
    const { length } = this.#primitive.params;
    return args.flatMap(({ buffer }, i) =>
      i >= length || this.#reads.has(i) ? [asWasmBuffer(buffer)] : [],
    );
  }

  #runReference(step: HostStep, plan: HostPlan, addresses: readonly number[]): void {
    const { machine } = this.#context;
    if (machine.isImmediate) return this.#refer(step, plan, addresses);
    const places = [...addresses];
    const run = (): void => machine.submit(() => this.#refer(step, plan, places));
    machine.recording?.addStep(run);
    run();
  }

  #refer(step: HostStep, plan: HostPlan, addresses: readonly number[]): void {
    const { bytes } = this.#context.machine;
    const values = plan.types.map((type, value): StoredTensor | undefined => {
      const byteOffset = addresses[value];
      const hasMemory = plan.stored.has(value) && byteOffset !== undefined;
      return hasMemory ? { ...type, bytes, byteOffset } : undefined;
    });
    this.#references().runStep(step, values, plan.types);
  }
}

function addressOf({ buffer, byteOffset }: DeviceTensor): number {
  return asWasmBuffer(buffer).begin + byteOffset;
}

/** Types with the dimensions that they have in a call. */
function typesOf(
  types: readonly TensorType[],
  shapes: readonly Shape[],
): readonly ConcreteTensorType[] {
  return types.map(({ dtype }, i) => ({ dtype, shape: shapes[i] ?? [] }));
}
