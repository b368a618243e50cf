import { type DType, storageByteLength } from '../../../core/tensor/dtype.ts';
import { decodeFloat16, encodeFloat16 } from '../../../core/tensor/float16-arrays.ts';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../../core/tensor/shape.ts';
import type { Device, DeviceBuffer, DeviceTensor } from '../../device.ts';
import {
  assemblePlan,
  type CompiledLaunch,
  type CompiledPlan,
  realLaunches,
  releasePlan,
} from '../kernels/compiled-plan.ts';
import type { OperatorTable } from '../../../ops/operator.ts';
import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import type { KernelContext, Prepacking } from '../kernels/webgpu-kernel.ts';
import type { Trial } from './tune-plan.ts';

/** A measurement takes about so long, so that a clock of a millisecond will do. */
const MEASURED_MS = 20;
const MAX_REPEATS = 200;

export interface TrialContext extends KernelContext {
  readonly device: Pick<Device, 'createBuffer' | 'write' | 'read' | 'synchronize'>;
}

interface TrialOptions {
  readonly context: TrialContext;
  readonly operators: OperatorTable;
  /** Work that calls of the first choice find done. */
  readonly prepacking: Prepacking | undefined;
}

/**
 * The arguments that all variants of a call are tried on: floats of -1 to 1, any bytes, and zeros of
 * what may be indices.
 */
export class TrialArguments {
  readonly shapes: CallShapes;
  readonly inputs: readonly DeviceTensor[];
  readonly primitive: PrimitiveFunction;
  readonly #buffers: DeviceBuffer[] = [];
  readonly #options: TrialOptions;
  /** Launches that calls do not do again; undefined until the first choice is prepared. */
  #prepacked: ReadonlySet<string> | undefined;

  /** Throws OutOfMemoryError. */
  constructor(primitive: PrimitiveFunction, shapes: CallShapes, options: TrialOptions) {
    this.primitive = primitive;
    this.shapes = shapes;
    this.#options = options;
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

  get byteLength(): number {
    const { params, results } = this.primitive;
    const types = [...params, ...results.map(({ type }) => type)];
    const shapes = [...this.shapes.params, ...this.shapes.results];
    return types.reduce(
      (sum, { dtype }, i) => sum + storageByteLength(dtype, elementCount(shapes[i] ?? [])),
      0,
    );
  }

  /** Compiles a plan, the first choice first. Rejects with DeviceError or OutOfMemoryError. */
  async prepare(plan: LaunchPlan): Promise<PlanTrial> {
    const { context, operators } = this.#options;
    const launches = realLaunches(plan);
    const compiled = await Promise.all(launches.map((launch) => context.pipelines.compile(launch)));
    const { params, results } = this.shapes;
    const assembled = assemblePlan(plan, compiled, {
      primitive: this.primitive,
      shapes: [...params, ...results],
      ...context,
    });
    this.#prepacked ??= new Set(this.#prepackedOf(assembled).map(launchKey));
    const known = this.#prepacked;
    // Of the others it is not sure that there is memory to keep what they make.
    const rest = assembled.launches.filter((l) => !l.prepacks || !known.has(launchKey(l)));
    const timed = { ...assembled, launches: rest };
    return new PlanTrial(this, { context, operators, plan: assembled, timed });
  }

  #prepackedOf({ launches }: CompiledPlan): readonly CompiledLaunch[] {
    const { prepacking } = this.#options;
    if (prepacking === undefined) return [];
    // Before the first call nobody knows what is constant: all but the first argument, most likely.
    const mayBeDone = ({ prepacks, bindings }: CompiledLaunch): boolean =>
      prepacks && bindings.every(({ kind, index }) => kind !== 'argument' || index > 0);
    return prepacking.done ?? launches.filter(mayBeDone);
  }

  #input(dtype: DType, shape: Shape): DeviceTensor {
    const { device } = this.#options.context;
    const tensor = emptyTensor(device, dtype, shape);
    this.#buffers.push(tensor.buffer);
    const bytes = randomBytes(dtype, elementCount(shape));
    if (bytes !== undefined) device.write(tensor.buffer, 0, bytes);
    return tensor;
  }
}

/** Equal for launches that make the same of the same constants. */
function launchKey({ pipeline, params, workgroups, byteLengths }: CompiledLaunch): string {
  return [pipeline.key, params?.key, workgroups, byteLengths].join(';');
}

interface TrialPlan {
  readonly context: TrialContext;
  readonly operators: OperatorTable;
  readonly plan: CompiledPlan;
  /** The launches of the plan that each call does, without those that are done once. */
  readonly timed: CompiledPlan;
}

class PlanTrial implements Trial {
  readonly #args: TrialArguments;
  readonly #trial: TrialPlan;
  readonly #outputs: DeviceTensor[] = [];
  #repeats = 0;

  constructor(args: TrialArguments, trial: TrialPlan) {
    const { primitive, shapes } = args;
    this.#args = args;
    this.#trial = trial;
    try {
      for (const [i, { type }] of primitive.results.entries()) {
        const shape = shapes.results[i] ?? [];
        this.#outputs.push(emptyTensor(trial.context.device, type.dtype, shape));
      }
    } catch (error) {
      this.dispose();
      throw error;
    }
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
    return this.#args.primitive.results.every(({ type: { dtype } }, i) => {
      const [a, b] = [mine[i]?.slice().buffer, theirs[i]?.slice().buffer];
      if (a === undefined || b === undefined) return false;
      if (dtype === 'float32') return this.#areClose(new Float32Array(a), new Float32Array(b));
      return dtype === 'float16' ? this.#areClose(halves(a), halves(b), HALF) : areEqual(a, b);
    });
  }

  dispose(): void {
    releasePlan(this.#trial.plan, this.#trial.context);
    for (const { buffer } of this.#outputs) buffer.destroy();
  }

  /** Measures in host time: browsers round timestamps to a tenth of a millisecond. */
  async #time(repeats: number): Promise<number> {
    const { plan, timed, context } = this.#trial;
    const { queue, device } = context;
    const args = [...this.#args.inputs, ...this.#outputs];
    // Others have used the scratch that it finds things in.
    if (timed.launches.length < plan.launches.length) queue.launch(plan, args);
    await device.synchronize();
    const begin = performance.now();
    for (let i = 0; i < repeats; i++) queue.launch(timed, args);
    await device.synchronize();
    return (performance.now() - begin) / repeats;
  }

  async #results(): Promise<Uint8Array[]> {
    const { queue, device } = this.#trial.context;
    queue.launch(this.#trial.plan, [...this.#args.inputs, ...this.#outputs]);
    return device.read(
      this.#outputs.map(({ buffer }) => ({ buffer, byteOffset: 0, byteLength: buffer.byteLength })),
    );
  }

  #areClose(a: Float32Array, b: Float32Array, least = 0): boolean {
    const tolerances = this.#args.primitive.body.flatMap(
      ({ op }) => this.#trial.operators.get(op)?.tolerance ?? [],
    );
    const rtol = Math.max(least, ...tolerances.map((tolerance) => tolerance.rtol));
    const atol = Math.max(least, ...tolerances.map((tolerance) => tolerance.atol));
    const unit = Math.max(1, rootMeanSquare(b));
    return a.every((x, i) => {
      const y = b[i] ?? Number.NaN;
      return Object.is(x, y) || Math.abs(x - y) <= atol * unit + rtol * Math.abs(y);
    });
  }
}

/**
 * Tolerances hold for results of about one, which sums of hundreds of products of random numbers are not.
 * 0 where some are not finite.
 */
function rootMeanSquare(values: Float32Array): number {
  const mean = values.reduce((sum, x) => sum + x * x, 0) / values.length;
  return Number.isFinite(mean) ? Math.sqrt(mean) : 0;
}

function emptyTensor(device: TrialContext['device'], dtype: DType, shape: Shape): DeviceTensor {
  const byteLength = Math.ceil(storageByteLength(dtype, elementCount(shape)) / 4) * 4;
  return { buffer: device.createBuffer(Math.max(4, byteLength)), byteOffset: 0, dtype, shape };
}

/** The same ones every time, so that all variants see the same. Undefined for zeros. */
function randomBytes(dtype: DType, count: number): Uint8Array | undefined {
  if (dtype === 'int8' || dtype === 'uint8') {
    // Whole words are written.
    return randoms(new Uint8Array(Math.ceil(count / 4) * 4), (x) => x * 256);
  }
  if (dtype === 'float16') {
    const bits = new Uint16Array(Math.ceil(count / 2) * 2);
    encodeFloat16(
      randoms(new Float32Array(count), (x) => x * 2 - 1),
      bits,
    );
    return new Uint8Array(bits.buffer);
  }
  if (dtype !== 'float32') return undefined;
  return new Uint8Array(randoms(new Float32Array(count), (x) => x * 2 - 1).buffer);
}

/** Fills an array with what `value` makes of numbers from 0 to 1. */
function randoms<Numbers extends Float32Array | Uint8Array>(
  array: Numbers,
  value: (x: number) => number,
): Numbers {
  let state = 1;
  for (let i = 0; i < array.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    array[i] = value(state / 2 ** 32);
  }
  return array;
}

/** A unit in the last place of what is around one, twice: sums may be rounded either way. */
const HALF = 2 ** -10;

function halves(bits: ArrayBuffer): Float32Array {
  return decodeFloat16(new Uint16Array(bits));
}

function areEqual(a: ArrayBuffer, b: ArrayBuffer): boolean {
  const other = new Uint8Array(b);
  return a.byteLength === b.byteLength && new Uint8Array(a).every((byte, i) => byte === other[i]);
}
