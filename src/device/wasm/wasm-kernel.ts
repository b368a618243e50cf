import { evaluateDim } from '../../core/dim.ts';
import { forEachSymbol } from '../../core/dim-symbols.ts';
import { storageByteLength } from '../../core/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../core/primitive-function.ts';
import { returnsTensor } from '../../core/returns-tensor.ts';
import { elementCount, sameShape } from '../../core/shape.ts';
import { formatType } from '../../ops/operand-checks.ts';
import type { DeviceTensor, Kernel } from '../device.ts';
import { type HostPlan, type HostStep, planOnHost } from '../host/host-plan.ts';
import type { KernelContext, References } from '../host/kernel-context.ts';
import type { StoredTensor } from '../host/storage-view.ts';
import type { CompiledStep, StepMachine } from './compiled-step.ts';
import { isPlanned, planStep } from './plan-step.ts';
import type { StepPlan } from './step-plan.ts';
import { asWasmBuffer, type WasmBuffer } from './wasm-memory.ts';

export interface WasmKernelContext extends KernelContext {
  readonly machine: StepMachine;
  /** Undefined where all steps are known to have code. */
  readonly references: References | undefined;
}

/** A primitive for certain shapes, before its code is compiled. */
export interface PlannedKernel {
  /** Of parameters, then of results. */
  readonly types: readonly ConcreteTensorType[];
  readonly plan: HostPlan;
  /** Undefined for steps that references do. */
  readonly steps: readonly (StepPlan | undefined)[];
}

interface ReadyKernel extends PlannedKernel {
  readonly compiled: readonly (CompiledStep | undefined)[];
  /** Bytes of temporaries, by slot. */
  readonly temporaries: readonly number[];
}

const NO_SYMBOLS: ReadonlyMap<string, number> = new Map();
/** Sizes at which operators have other kernels, if any. */
const SAMPLED_SIZES = [1, 3, 64];

/** Sizes of symbols whose code is kept. */
const KEPT = 8;

/** A primitive function in WebAssembly. Launching computes at once. */
export class WasmKernel implements Kernel {
  readonly name: string;
  references: readonly string[];
  readonly #primitive: PrimitiveFunction;
  readonly #context: WasmKernelContext;
  /** Values that calls read. */
  readonly #reads: ReadonlySet<number>;
  #ahead: PlannedKernel | undefined;
  /** The latest first. */
  readonly #ready: ReadyKernel[] = [];
  readonly #addresses: number[] = [];

  constructor(primitive: PrimitiveFunction, context: WasmKernelContext) {
    this.name = primitive.name;
    this.#primitive = primitive;
    this.#context = context;
    this.references = returnsTensor(primitive) ? primitive.body.map(({ op }) => op) : [];
    this.#reads = new Set(primitive.body.flatMap(({ inputs }) => inputs));
  }

  /** The plan for the shapes that all launches have; undefined where symbols tell them. */
  planAhead(): PlannedKernel | undefined {
    if (this.#ahead?.steps.includes(undefined) === false) return this.#ahead;
    const types = this.#typesWith(NO_SYMBOLS);
    this.#ahead = types && this.#plan(types);
    return this.#ahead;
  }

  /**
   * Whether references are needed: for a result whose shape depends on elements, and for steps without
   * code. Where symbols tell shapes, some sizes of them are tried. Throws what planning throws.
   */
  needsReferences(): boolean {
    if (returnsTensor(this.#primitive)) return true;
    const known = this.planAhead();
    if (known !== undefined) return known.steps.includes(undefined);
    return SAMPLED_SIZES.some((size) => {
      const types = this.#typesWith(sizesOf(this.#primitive, size));
      if (types === undefined) return true;
      const plan = this.#planOnHost(types);
      return plan.steps.some((step) => !isPlanned(step, plan));
    });
  }

  /** Of parameters and results; undefined where a dimension has no size. */
  #typesWith(symbols: ReadonlyMap<string, number>): ConcreteTensorType[] | undefined {
    const { params, results } = this.#primitive;
    const types: ConcreteTensorType[] = [];
    for (const { dtype, shape } of [...params, ...results.map(({ type }) => type)]) {
      const sizes = shape.flatMap((dim) => evaluateDim(dim, symbols) ?? []);
      if (sizes.length < shape.length) return undefined;
      types.push({ dtype, shape: sizes });
    }
    return types;
  }

  /** Takes the code of a plan, as {@link CompiledStep} has it. */
  take(planned: PlannedKernel, compiled: readonly (CompiledStep | undefined)[]): void {
    const { temporaries, types, steps } = planned.plan;
    this.references = steps.filter((_, i) => !planned.steps[i]).map(({ label }) => label);
    const sizes = temporaries.map((value) => {
      const type = types[value];
      return type === undefined ? 0 : storageByteLength(type.dtype, elementCount(type.shape));
    });
    this.#ready.unshift({ ...planned, compiled, temporaries: sizes });
    if (this.#ready.length > KEPT) this.#ready.pop();
  }

  launch(args: readonly DeviceTensor[]): void {
    const { params, results } = this.#primitive;
    if (args.length !== params.length + results.length) {
      throw internalError(
        `${this.name} was called with ${args.length} tensors instead of ` +
          `${params.length} and ${results.length}`,
      );
    }
    const ready = this.#readyFor(args);
    const addresses = this.#bind(ready, args);
    this.#context.launched();
    const recorded = this.#context.timings();
    const { recording } = this.#context.machine;
    recording?.noteLaunch(this.#buffersOf(args));
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

  #references(): References {
    const { references } = this.#context;
    if (references === undefined) throw internalError(`${this.name} was made without references`);
    return references;
  }

  #readyFor(args: readonly DeviceTensor[]): ReadyKernel {
    for (let i = 0; i < this.#ready.length; i++) {
      const known = this.#ready[i];
      if (known === undefined || !isFor(known, args)) continue;
      if (i > 0) {
        this.#ready.splice(i, 1);
        this.#ready.unshift(known);
      }
      return known;
    }
    const planned = this.#plan(args.map(({ dtype, shape }) => ({ dtype, shape })));
    this.take(planned, this.#context.machine.compileNow(planned.steps));
    const [ready] = this.#ready;
    if (ready === undefined) throw internalError(`${this.name} has no code`);
    return ready;
  }

  #plan(types: readonly ConcreteTensorType[]): PlannedKernel {
    const plan = this.#planOnHost(types);
    return { types, plan, steps: plan.steps.map((step) => planStep(step, plan)) };
  }

  #planOnHost(types: readonly ConcreteTensorType[]): HostPlan {
    const { params, results } = this.#primitive;
    const { operators } = this.#context;
    const targets = types.slice(params.length);
    const plan = planOnHost(this.#primitive, types.slice(0, params.length), {
      operators,
      results: targets.map(({ shape }) => shape),
    });
    for (const [i, { value }] of results.entries()) {
      const [target, type] = [targets[i], plan.types[value]];
      if (target === undefined || type === undefined) {
        throw internalError(`${this.name} has no destination for result ${i}`);
      }
      if (sameShape(target.shape, type.shape)) continue;
      throw new ShapeError({
        where: `kernel ${this.name}, result ${i}`,
        got: formatType(type),
        expected: `${formatType(target)}, that of the destination`,
      });
    }
    return plan;
  }

  /** Addresses of all values that have memory: arguments, destinations, temporaries. */
  #bind({ plan, temporaries }: ReadyKernel, args: readonly DeviceTensor[]): readonly number[] {
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
    for (let slot = 0; slot < temporaries.length; slot++) {
      const value = plan.temporaries[slot];
      if (value === undefined) continue;
      addresses[value] = this.#context.machine.scratch(slot, temporaries[slot] ?? 0);
    }
    return addresses;
  }

  /** Those of tensors that are read or written. */
  #buffersOf(args: readonly DeviceTensor[]): WasmBuffer[] {
    const { length } = this.#primitive.params;
    return args.flatMap(({ buffer }, i) =>
      i >= length || this.#reads.has(i) ? [asWasmBuffer(buffer)] : [],
    );
  }

  #runReference(step: HostStep, plan: HostPlan, addresses: readonly number[]): void {
    const { recording } = this.#context.machine;
    if (recording !== undefined) {
      const places = [...addresses];
      recording.noteStep(() => this.#refer(step, plan, places));
    }
    this.#refer(step, plan, addresses);
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

function isFor({ types }: ReadyKernel, args: readonly DeviceTensor[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const [arg, type] = [args[i], types[i]];
    if (arg === undefined || type === undefined || arg.dtype !== type.dtype) return false;
    if (arg.shape !== type.shape && !sameShape(arg.shape, type.shape)) return false;
  }
  return true;
}

/** Multiples of a size for the symbols of a primitive, the first the largest. */
function sizesOf({ params, results }: PrimitiveFunction, size: number): Map<string, number> {
  const symbols = new Set<string>();
  for (const { shape } of [...params, ...results.map(({ type }) => type)]) {
    for (const dim of shape) forEachSymbol(dim, (symbol) => symbols.add(symbol));
  }
  return new Map([...symbols].map((name, i) => [name, size * (symbols.size - i)]));
}
