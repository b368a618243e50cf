import { CLOCK, type Clock } from '../../core/async/clock.ts';
import type { KernelTiming } from '../device.ts';
import { BUFFER_USAGE } from './memory/buffer-usage.ts';
import type { BufferTable } from './memory/buffers.ts';
import type { CompiledLaunch } from './kernels/compiled-plan.ts';

/** Passes per query set; two timestamps each. */
const SET_CAPACITY = 512;
const TIMESTAMP_BYTE_LENGTH = 8;

/** A submit, when it was made, and the launches that were recorded by then. */
interface TimedSubmit {
  readonly atMs: number;
  readonly launchCount: number;
}

interface TimestampSet {
  readonly querySet: GPUQuerySet;
  readonly resolved: GPUBuffer;
  passCount: number;
}

/**
 * Records which kernels ran and, where the adapter has timestamps, for how long. Profiles that
 * overlap share one: each takes the launches between its start and its end.
 */
export class LaunchProfiler {
  userCount = 0;

  readonly #device: GPUDevice;
  readonly #buffers: BufferTable;
  readonly #hasTimestamps: boolean;
  readonly #launches: CompiledLaunch[] = [];
  readonly #sets: TimestampSet[] = [];
  readonly #submits: TimedSubmit[] = [];
  readonly #clock: Clock;

  constructor(
    device: GPUDevice,
    buffers: BufferTable,
    { hasTimestamps, clock = CLOCK }: { readonly hasTimestamps: boolean; readonly clock?: Clock },
  ) {
    this.#device = device;
    this.#clock = clock;
    this.#buffers = buffers;
    this.#hasTimestamps = hasTimestamps;
  }

  /** Notes a launch; the result goes into the descriptor of the pass that holds it alone. */
  beginPass(launch: CompiledLaunch): GPUComputePassDescriptor {
    this.#launches.push(launch);
    if (!this.#hasTimestamps) return { label: launch.label };
    const set = this.#currentSet();
    const first = set.passCount * 2;
    set.passCount++;
    return {
      label: launch.label,
      timestampWrites: {
        querySet: set.querySet,
        beginningOfPassWriteIndex: first,
        endOfPassWriteIndex: first + 1,
      },
    };
  }

  /** What was recorded is submitted now: a GPU may begin. */
  submitted(): void {
    this.#submits.push({ atMs: this.#clock.now(), launchCount: this.#launches.length });
  }

  /** Copies all timestamps into `staging`, whose layout {@link timings} knows. */
  resolve(encoder: GPUCommandEncoder, staging: GPUBuffer): void {
    let byteOffset = 0;
    for (const { querySet, resolved, passCount } of this.#sets) {
      const byteLength = passCount * 2 * TIMESTAMP_BYTE_LENGTH;
      encoder.resolveQuerySet(querySet, 0, passCount * 2, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, byteOffset, byteLength);
      byteOffset += byteLength;
    }
  }

  get launchCount(): number {
    return this.#launches.length;
  }

  /** Bytes that {@link resolve} writes; zero where there are no timestamps. */
  get byteLength(): number {
    return this.#hasTimestamps ? this.#launches.length * 2 * TIMESTAMP_BYTE_LENGTH : 0;
  }

  /**
   * When launches began, on the clock of `performance.now()`, of which `first` is the first that counts; undefined where that is
   * not known. A GPU has a clock of its own, of which no page knows when it began. No launch begins before it was submitted: of
   * all differences between the two clocks the smallest is taken with which that holds, so launches stand too early by as long
   * as the fastest of them had to wait.
   */
  beginsMs(bytes: Uint8Array | undefined, first: number): readonly (number | undefined)[] {
    const ticks = bytes === undefined ? undefined : new BigUint64Array(bytes.buffer);
    // A write that did not happen leaves zero.
    const onGpu = this.#launches.map((_, i) => Number(ticks?.[2 * i] || NaN) / 1e6);
    let offset = Number.NEGATIVE_INFINITY;
    let submit = 0;
    for (const [launch, begin] of onGpu.entries()) {
      if (launch < first) continue;
      while ((this.#submits[submit]?.launchCount ?? Infinity) <= launch) submit++;
      const { atMs } = this.#submits[submit] ?? {};
      if (atMs !== undefined && !Number.isNaN(begin)) offset = Math.max(offset, atMs - begin);
    }
    const isKnown = Number.isFinite(offset);
    return onGpu.map((begin) => (isKnown && !Number.isNaN(begin) ? begin + offset : undefined));
  }

  timings(bytes: Uint8Array | undefined): KernelTiming[] {
    const ticks = bytes === undefined ? undefined : new BigUint64Array(bytes.buffer);
    return this.#launches.map(({ primitive, label, workgroups }, i) => {
      const begin = ticks?.[2 * i];
      const end = ticks?.[2 * i + 1];
      const isTimed = begin !== undefined && end !== undefined && end >= begin;
      const durationMs = isTimed ? Number(end - begin) / 1e6 : undefined;
      return { primitive, label, workgroups, durationMs };
    });
  }

  destroy(): void {
    for (const { querySet, resolved } of this.#sets) {
      querySet.destroy();
      resolved.destroy();
    }
  }

  #currentSet(): TimestampSet {
    const last = this.#sets.at(-1);
    if (last !== undefined && last.passCount < SET_CAPACITY) return last;
    const count = SET_CAPACITY * 2;
    const set: TimestampSet = {
      querySet: this.#device.createQuerySet({ type: 'timestamp', count }),
      resolved: this.#buffers.createRaw(
        count * TIMESTAMP_BYTE_LENGTH,
        BUFFER_USAGE.queryResolve | BUFFER_USAGE.copySource,
        'timestamps',
      ),
      passCount: 0,
    };
    this.#sets.push(set);
    return set;
  }
}
