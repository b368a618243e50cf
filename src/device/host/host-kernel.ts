import { storageByteLength } from '../../core/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../core/primitive-function.ts';
import { elementCount, sameShape } from '../../core/shape.ts';
import { formatType } from '../../ops/operand-checks.ts';
import type { DeviceTensor, Kernel } from '../device.ts';
import { computeOnHost } from './compute-on-host.ts';
import { type HostPlan, planOnHost } from './host-plan.ts';
import type { KernelContext } from './kernel-context.ts';
import { runStep } from './run-step.ts';
import type { StoredTensor } from './storage-view.ts';

/** A primitive function made of references. Launching computes at once. */
export class HostKernel implements Kernel {
  readonly name: string;
  readonly #primitive: PrimitiveFunction;
  readonly #context: KernelContext;
  /** Values that calls read. */
  readonly #reads: ReadonlySet<number>;
  #shapes: readonly ConcreteTensorType[] = [];
  #plan: HostPlan | undefined;

  constructor(primitive: PrimitiveFunction, context: KernelContext) {
    this.name = primitive.name;
    this.#primitive = primitive;
    this.#context = context;
    this.#reads = new Set(primitive.body.flatMap(({ inputs }) => inputs));
  }

  launch(args: readonly DeviceTensor[]): void {
    const { params, results } = this.#primitive;
    if (args.length !== params.length + results.length) {
      throw internalError(
        `${this.name} was called with ${args.length} tensors instead of ` +
          `${params.length} and ${results.length}`,
      );
    }
    const plan = this.#planFor(args);
    const values = this.#bindValues(plan, args);
    this.#context.launched();
    for (const step of plan.steps) {
      const started = performance.now();
      if (this.#context.computes) runStep(step, values, plan.types);
      this.#context.timings()?.push({
        primitive: this.name,
        label: step.label,
        workgroups: [1, 1, 1],
        durationMs: this.#context.computes ? performance.now() - started : undefined,
      });
    }
  }

  compute(inputs: readonly HostTensor[]): HostTensor {
    return computeOnHost(this.#primitive, inputs, this.#context);
  }

  /** The plan of the last call if the shapes are the same, else a new one. */
  #planFor(args: readonly DeviceTensor[]): HostPlan {
    const isSame =
      this.#plan !== undefined &&
      args.every(({ dtype, shape }, i) => {
        const known = this.#shapes[i];
        return known !== undefined && known.dtype === dtype && sameShape(known.shape, shape);
      });
    if (isSame && this.#plan !== undefined) return this.#plan;
    const types = args.map(({ dtype, shape }) => ({ dtype, shape }));
    const count = this.#primitive.params.length;
    const { operators } = this.#context;
    const results = types.slice(count).map(({ shape }) => shape);
    const plan = planOnHost(this.#primitive, types.slice(0, count), { operators, results });
    this.#shapes = types;
    // Room for temporaries now, lest to make it moves memory that a launch has found already.
    for (const [slot, value] of plan.temporaries.entries()) this.#temporary(plan, value, slot);
    this.#plan = plan;
    return plan;
  }

  /** Memory of every value: arguments, destinations, temporaries. Chain-local ones have none. */
  #bindValues(plan: HostPlan, args: readonly DeviceTensor[]): (StoredTensor | undefined)[] {
    const { params, results } = this.#primitive;
    const stored = (tensor: DeviceTensor): StoredTensor => {
      const { dtype, shape } = tensor;
      return { ...this.#context.locate(tensor), dtype, shape };
    };
    const values = plan.types.map((_, i) => {
      // A tensor that is not read may be on another device: its shape tells a symbol.
      const argument = i < params.length && this.#reads.has(i) ? args[i] : undefined;
      return argument === undefined ? undefined : stored(argument);
    });
    for (const [i, { value }] of results.entries()) {
      const target = args[params.length + i];
      const type = plan.types[value];
      if (target === undefined || type === undefined) {
        throw internalError(`${this.name} has no destination for result ${i}`);
      }
      if (!sameShape(target.shape, type.shape)) {
        throw new ShapeError({
          where: `kernel ${this.name}, result ${i}`,
          got: formatType(type),
          expected: `${formatType(target)}, that of the destination`,
        });
      }
      values[value] = { ...stored(target), ...type };
    }
    for (const [slot, value] of plan.temporaries.entries()) {
      values[value] = this.#temporary(plan, value, slot);
    }
    return values;
  }

  #temporary({ types }: HostPlan, value: number, slot: number): StoredTensor | undefined {
    const type = types[value];
    if (type === undefined) return undefined;
    const byteLength = storageByteLength(type.dtype, elementCount(type.shape));
    return { ...this.#context.scratch(slot, byteLength), ...type };
  }
}
