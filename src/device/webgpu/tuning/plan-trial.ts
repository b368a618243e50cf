import { type DType, storageByteLength } from '../../../core/dtype.ts';
import type { LaunchPlan } from '../../../core/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/primitive-function.ts';
import { elementCount, type Shape } from '../../../core/shape.ts';
import type { Device, DeviceBuffer, DeviceTensor } from '../../device.ts';
import { assemblePlan, realLaunches, releasePlan } from '../compiled-plan.ts';
import type { CallShapes, Operators } from '../planner/plan.ts';
import type { KernelParts } from '../webgpu-kernel.ts';
import type { Trial } from './tune-plan.ts';

/** A measurement takes about so long, so that a clock of a millisecond will do. */
const MEASURED_MS = 20;
const MAX_REPEATS = 200;

export interface TrialParts extends KernelParts {
  readonly device: Pick<Device, 'createBuffer' | 'write' | 'read' | 'synchronize'>;
}

/** The arguments that all variants of a call are tried on: floats of -1 to 1, zeros of other types. */
export class TrialArguments {
  readonly shapes: CallShapes;
  readonly inputs: readonly DeviceTensor[];
  readonly primitive: PrimitiveFunction;
  readonly #buffers: DeviceBuffer[] = [];
  readonly #parts: TrialParts;
  readonly #operators: Operators;

  /** Throws OutOfMemoryError. */
  constructor(
    primitive: PrimitiveFunction,
    shapes: CallShapes,
    { parts, operators }: { readonly parts: TrialParts; readonly operators: Operators },
  ) {
    this.primitive = primitive;
    this.shapes = shapes;
    this.#parts = parts;
    this.#operators = operators;
    try {
      this.inputs = primitive.params.map(({ dtype }, i) =>
        this.#input(dtype, shapes.params[i] ?? []),
      );
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  dispose(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  /** Compiles a plan. Rejects with DeviceError or OutOfMemoryError. */
  async prepare(plan: LaunchPlan): Promise<PlanTrial> {
    const { pipelines } = this.#parts;
    const launches = realLaunches(plan);
    const compiled = await Promise.all(launches.map((launch) => pipelines.compile(launch)));
    const { params, results } = this.shapes;
    return new PlanTrial(this, {
      parts: this.#parts,
      operators: this.#operators,
      plan: assemblePlan(plan, compiled, {
        primitive: this.primitive,
        shapes: [...params, ...results],
        ...this.#parts,
      }),
    });
  }

  #input(dtype: DType, shape: Shape): DeviceTensor {
    const { device } = this.#parts;
    const tensor = emptyTensor(device, dtype, shape);
    this.#buffers.push(tensor.buffer);
    if (dtype === 'float32') device.write(tensor.buffer, 0, randomFloats(elementCount(shape)));
    return tensor;
  }
}

interface TrialPlan {
  readonly parts: TrialParts;
  readonly operators: Operators;
  readonly plan: ReturnType<typeof assemblePlan>;
}

export class PlanTrial implements Trial {
  readonly #args: TrialArguments;
  readonly #trial: TrialPlan;
  readonly #outputs: readonly DeviceTensor[];
  #repeats = 0;

  constructor(args: TrialArguments, trial: TrialPlan) {
    const { primitive, shapes } = args;
    this.#args = args;
    this.#trial = trial;
    this.#outputs = primitive.results.map(({ type }, i) =>
      emptyTensor(trial.parts.device, type.dtype, shapes.results[i] ?? []),
    );
  }

  async measure(): Promise<number> {
    if (this.#repeats === 0) {
      await this.#time(1);
      const onceMs = await this.#time(1);
      this.#repeats = Math.max(1, Math.min(MAX_REPEATS, Math.round(MEASURED_MS / onceMs)));
    }
    return this.#time(this.#repeats);
  }

  async agreesWith(other: PlanTrial): Promise<boolean> {
    const [mine, theirs] = [await this.#results(), await other.#results()];
    return this.#args.primitive.results.every(({ type }, i) =>
      type.dtype === 'float32'
        ? this.#areClose(floatsIn(mine[i]), floatsIn(theirs[i]))
        : areEqual(mine[i], theirs[i]),
    );
  }

  dispose(): void {
    releasePlan(this.#trial.plan, this.#trial.parts);
    for (const { buffer } of this.#outputs) buffer.destroy();
  }

  /** In host time: browsers round timestamps to a tenth of a millisecond. */
  async #time(repeats: number): Promise<number> {
    const { queue, device } = this.#trial.parts;
    await device.synchronize();
    const begin = performance.now();
    for (let i = 0; i < repeats; i++) {
      queue.launch(this.#trial.plan, [...this.#args.inputs, ...this.#outputs]);
    }
    await device.synchronize();
    return (performance.now() - begin) / repeats;
  }

  async #results(): Promise<Uint8Array[]> {
    const { queue, device } = this.#trial.parts;
    queue.launch(this.#trial.plan, [...this.#args.inputs, ...this.#outputs]);
    return device.read(
      this.#outputs.map(({ buffer }) => ({ buffer, byteOffset: 0, byteLength: buffer.byteLength })),
    );
  }

  #areClose(a: Float32Array, b: Float32Array): boolean {
    const tolerances = this.#args.primitive.body.flatMap(
      ({ op }) => this.#trial.operators.get(op)?.tolerance ?? [],
    );
    const rtol = Math.max(0, ...tolerances.map((tolerance) => tolerance.rtol));
    const atol = Math.max(0, ...tolerances.map((tolerance) => tolerance.atol));
    return a.every((x, i) => {
      const y = b[i] ?? Number.NaN;
      return Object.is(x, y) || Math.abs(x - y) <= atol + rtol * Math.abs(y);
    });
  }
}

function emptyTensor(device: TrialParts['device'], dtype: DType, shape: Shape): DeviceTensor {
  const byteLength = Math.ceil(storageByteLength(dtype, elementCount(shape)) / 4) * 4;
  return { buffer: device.createBuffer(Math.max(4, byteLength)), byteOffset: 0, dtype, shape };
}

/** The same ones every time, so that all variants see the same. */
function randomFloats(count: number): Uint8Array {
  const floats = new Float32Array(count);
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    floats[i] = state / 2 ** 31 - 1;
  }
  return new Uint8Array(floats.buffer);
}

function floatsIn(bytes: Uint8Array | undefined): Float32Array {
  return new Float32Array(bytes?.slice().buffer ?? new ArrayBuffer(0));
}

function areEqual(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && a.length === b?.length && a.every((byte, i) => byte === b[i]);
}
