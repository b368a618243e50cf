import type { HostTensor } from '../../core/host-tensor.ts';
import type { KernelSource } from '../../core/kernel-source.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../core/primitive-function.ts';
import type { DeviceTensor, Kernel } from '../device.ts';
import { overwrittenInput } from '../overwritten-input.ts';
import { computeOnHost } from './compute-on-host.ts';
import type { HostPlan } from './host-plan.ts';
import type { KernelContext } from './kernel-context.ts';
import { haveTypes, planForArguments } from './plan-for-arguments.ts';
import { runStep } from './run-step.ts';
import type { StoredTensor } from './storage-view.ts';

interface PlannedLaunch {
  readonly types: readonly ConcreteTensorType[];
  readonly plan: HostPlan;
}

/** A primitive function made of references. Launching computes at once. */
export class HostKernel implements Kernel {
  readonly name: string;
  readonly overwrites: number | undefined;
  readonly #primitive: PrimitiveFunction;
  readonly #context: KernelContext;
  /** Values that calls read. */
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
      if (this.#context.computes) runStep(step, values, plan.types);
      this.#context.timings()?.push({
        primitive: this.name,
        label: step.label,
        workgroups: [1, 1, 1],
        durationMs: this.#context.computes ? performance.now() - started : undefined,
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
