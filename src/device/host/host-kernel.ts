import { storageByteLength } from '../../core/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { ConcreteTensorType, PrimitiveFunction } from '../../core/primitive-function.ts';
import { elementCount, sameShape } from '../../core/shape.ts';
import { bindAttributes } from '../../ops/bind-attributes.ts';
import { computeReference, referenceResult } from '../../ops/compute-reference.ts';
import { formatType } from '../../ops/operand-checks.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import { opReference, staticReference } from '../../ops/references.ts';
import { opDefinition, OPS } from '../../ops/registry.ts';
import type { DeviceTensor, Kernel, KernelTiming } from '../device.ts';
import { asHostBuffer } from './host-memory.ts';
import { type CallStep, type HostPlan, planOnHost } from './host-plan.ts';
import { runChain } from './run-chain.ts';
import { type StoredTensor, storeBack, toHostTensor } from './storage-view.ts';

/** The part that kernels of one device share. */
export interface HostKernelContext {
  /** False for the null device, which plans and counts but computes nothing. */
  readonly computes: boolean;
  /** Memory for temporaries, by slot; it grows to the largest request and is reused. */
  scratch(slot: number, byteLength: number): ArrayBuffer;
  /** Called for each launch. */
  launched(): void;
  /** The timings that are being recorded, if any. */
  timings(): KernelTiming[] | undefined;
}

/** A primitive function made of references. Launching computes at once. */
export class HostKernel implements Kernel {
  readonly name: string;
  readonly #primitive: PrimitiveFunction;
  readonly #context: HostKernelContext;
  /** Values that calls read. */
  readonly #reads: ReadonlySet<number>;
  #shapes: readonly ConcreteTensorType[] = [];
  #plan: HostPlan | undefined;

  constructor(primitive: PrimitiveFunction, context: HostKernelContext) {
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
      if (this.#context.computes) {
        if (step.kind === 'chain') runChain(step, values, plan.types);
        else runCall(step, values);
      }
      this.#context.timings()?.push({
        primitive: this.name,
        label: step.label,
        workgroups: [1, 1, 1],
        durationMs: this.#context.computes ? performance.now() - started : undefined,
      });
    }
  }

  compute(inputs: readonly HostTensor[]): HostTensor {
    const [call] = bindAttributes(
      this.#primitive,
      { params: inputs.map(({ shape }) => shape), results: [] },
      OPS,
    );
    if (call === undefined) throw internalError(`${this.name} has no call`);
    const op = opDefinition(call.op);
    const operands = call.inputs.map((input) => inputs[input]);
    const { attributes, output } = inferConcreteCall(op, operands, call.attributes);
    this.#context.launched();
    const started = performance.now();
    const { computes } = this.#context;
    const result = computes
      ? referenceResult(op, opReference(op.name), { inputs: operands, attributes, output })
      : emptyOf(output);
    this.#context.timings()?.push({
      primitive: this.name,
      label: op.name,
      workgroups: [1, 1, 1],
      durationMs: computes ? performance.now() - started : undefined,
    });
    return result;
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
    const results = types.slice(count).map(({ shape }) => shape);
    const plan = planOnHost(this.#primitive, types.slice(0, count), results);
    this.#shapes = types;
    this.#plan = plan;
    return plan;
  }

  /** Memory of every value: arguments, destinations, temporaries. Chain-local ones have none. */
  #bindValues(plan: HostPlan, args: readonly DeviceTensor[]): (StoredTensor | undefined)[] {
    const { params, results } = this.#primitive;
    const values = plan.types.map((_, i) => {
      // A tensor that is not read may be on another device: its shape tells a symbol.
      const argument = i < params.length && this.#reads.has(i) ? args[i] : undefined;
      return argument === undefined ? undefined : storedArgument(argument);
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
      values[value] = { ...storedArgument(target), ...type };
    }
    for (const [slot, value] of plan.temporaries.entries()) {
      const type = plan.types[value];
      if (type === undefined) continue;
      const byteLength = storageByteLength(type.dtype, elementCount(type.shape));
      values[value] = { ...type, bytes: this.#context.scratch(slot, byteLength), byteOffset: 0 };
    }
    return values;
  }
}

/** Without elements along axes whose size depends on elements. */
function emptyOf({ dtype, shape }: ConcreteTensorType): HostTensor {
  return HostTensor.zeros(
    dtype,
    shape.map((dim) => Math.max(dim, 0)),
  );
}

function storedArgument({ buffer, byteOffset, dtype, shape }: DeviceTensor): StoredTensor {
  return { bytes: asHostBuffer(buffer).bytes, byteOffset, dtype, shape };
}

function runCall({ call }: CallStep, values: readonly (StoredTensor | undefined)[]): void {
  const inputs = call.inputs.map((value) => {
    const stored = values[value];
    return stored === undefined ? undefined : toHostTensor(stored);
  });
  const target = values[call.value];
  if (target === undefined) throw internalError(`value ${call.value} has no memory`);
  const output = toHostTensor(target);
  const reference = staticReference(call.op.name);
  computeReference(call.op, reference, { inputs, attributes: call.attributes, output });
  storeBack(output, target);
}
