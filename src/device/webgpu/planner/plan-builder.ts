import type {
  Launch,
  LaunchBuffer,
  LaunchPlan,
  PlannerCaps,
} from '../../../core/contracts/launch-plan.ts';
import type { ConcreteTensorType } from '../../../core/contracts/primitive-function.ts';
import { isBigInt, storageByteLength } from '../../../core/tensor/dtype.ts';
import { UnsupportedError, internalError } from '../../../core/errors.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import type { ElementType } from './element-type.ts';
import { requireElementType, type TypedCall, type TypedPrimitive } from './typed-primitive.ts';

/** Collects launches and scratch buffers, and knows where values are stored so far. */
export class PlanBuilder {
  readonly caps: PlannerCaps;
  readonly #typed: TypedPrimitive;
  readonly #launches: Launch[] = [];
  readonly #scratch: number[] = [];
  readonly #stored = new Map<number, LaunchBuffer>();

  constructor(typed: TypedPrimitive, caps: PlannerCaps) {
    this.#typed = typed;
    this.caps = caps;
    for (let index = 0; index < typed.paramCount; index++) {
      const place = index === typed.inPlace ? typed.paramCount : index;
      this.#stored.set(index, { kind: 'argument', index: place });
    }
  }

  get name(): string {
    return this.#typed.name;
  }

  /** See {@link TypedPrimitive.hasFixedShapes}. */
  get hasFixedShapes(): boolean {
    return this.#typed.hasFixedShapes;
  }

  type(value: number): ConcreteTensorType {
    const type = this.#typed.types[value];
    if (type === undefined) throw internalError(`${this.name} has no value ${value}`);
    return type;
  }

  elementType(value: number): ElementType {
    return requireElementType(this.type(value).dtype, this.name);
  }

  get hasWideValues(): boolean {
    return this.#typed.types.some(({ dtype }) => isBigInt(dtype));
  }

  isParam(value: number): boolean {
    return value < this.#typed.paramCount;
  }

  callOf(value: number): TypedCall {
    const call = this.#typed.calls[value - this.#typed.paramCount];
    if (call === undefined) throw internalError(`value ${value} of ${this.name} is no call`);
    return call;
  }

  /** The parameter that lies where the result goes, as elementwise kernels have it. */
  get inPlace(): number | undefined {
    return this.#typed.inPlace;
  }

  /** The buffer that holds a value, once a launch has written it. */
  storedIn(value: number): LaunchBuffer | undefined {
    return this.#stored.get(value);
  }

  /** The buffers that a value has to be written to: its results, else scratch. */
  destinations(value: number): readonly LaunchBuffer[] {
    const found: LaunchBuffer[] = this.#typed.results.flatMap((result, i) =>
      result === value ? [{ kind: 'argument', index: this.#typed.paramCount + i } as const] : [],
    );
    if (found.length > 0) return found;
    const { dtype, shape } = this.type(value);
    return [this.addScratch(storageByteLength(dtype, elementCount(shape)))];
  }

  addScratch(byteLength: number): LaunchBuffer {
    this.#scratch.push(byteLength);
    return { kind: 'scratch', index: this.#scratch.length - 1 };
  }

  /** From now on the value is read from the buffer. */
  markStored(value: number, buffer: LaunchBuffer): void {
    if (!this.#stored.has(value)) this.#stored.set(value, buffer);
  }

  addLaunch(launch: Launch): void {
    const storageBuffers = launch.bindings.length;
    if (storageBuffers > this.caps.maxStorageBuffersPerShaderStage) {
      throw new UnsupportedError({
        where: `kernel ${this.name}`,
        got: `${storageBuffers} storage buffers in ${launch.label}`,
        expected: `at most ${this.caps.maxStorageBuffersPerShaderStage} on this adapter`,
        remedy: 'Fuse fewer operators into one primitive function.',
      });
    }
    const limit = this.caps.maxComputeWorkgroupsPerDimension;
    if (Math.max(...launch.workgroups) > limit) {
      throw new UnsupportedError({
        where: `kernel ${this.name}`,
        got: `${launch.workgroups.join(' x ')} workgroups of ${launch.label}`,
        expected: `at most ${limit} in a dimension`,
        remedy: 'Split the batch.',
      });
    }
    if (!launch.workgroups.includes(0)) this.#launches.push(launch);
  }

  build(): LaunchPlan {
    return { launches: this.#launches, scratchByteLengths: this.#scratch };
  }
}
