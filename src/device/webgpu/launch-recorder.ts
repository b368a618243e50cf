import type { DeviceBuffer, DeviceRange, LaunchRecording, RecordedLaunches } from '../device.ts';
import type { BufferUser, WebGpuBuffer } from './memory/buffers.ts';
import type { CompiledLaunch } from './kernels/compiled-plan.ts';
import type { ParamArena, ParamSlot } from './memory/param-arena.ts';

/** A recording beyond these is not worth its memory, or its time without a yield point. */
const MAX_LAUNCHES = 4096;
const MAX_WRITE_BYTE_LENGTH = 64 * 1024;

/** The dynamic offset of a launch without parameters. Real offsets are multiples of 256. */
export const NO_OFFSET = 0xffffffff;

/** Launches that follow each other in one pass. */
export class LaunchList {
  readonly launches: CompiledLaunch[] = [];
  readonly pipelines: GPUComputePipeline[] = [];
  readonly groups: GPUBindGroup[] = [];
  /** Workgroups of launch `i` in x, y and z at `3 * i`. */
  readonly workgroups: number[] = [];
  /** The dynamic offset of launch `i` or {@link NO_OFFSET}; a typed array once it is complete. */
  offsets: ArrayLike<number> = [];
  readonly used = new Set<WebGpuBuffer>();
  readonly written = new Set<WebGpuBuffer>();

  /** Some of the launches. Buffers of the others count as used too. */
  part(from: number, to: number): LaunchList {
    const { used, written } = this;
    return Object.assign(new LaunchList(), {
      launches: this.launches.slice(from, to),
      pipelines: this.pipelines.slice(from, to),
      groups: this.groups.slice(from, to),
      workgroups: this.workgroups.slice(from * 3, to * 3),
      offsets: Uint32Array.from(this.offsets).subarray(from, to),
      used,
      written,
    });
  }
}

type Step =
  | { readonly kind: 'launches'; readonly list: LaunchList }
  | { readonly kind: 'copy'; readonly from: DeviceRange; readonly to: DeviceRange }
  | { readonly kind: 'write'; readonly target: DeviceRange; readonly bytes: Uint8Array };

interface RecordedQueue {
  recording: LaunchRecorder | undefined;
  readonly profiler: object | undefined;
  /** How many faults the device had; see `DeviceFaults`. */
  readonly faultCount: number;
  launchAll(list: LaunchList): void;
  copy(from: DeviceRange, to: DeviceRange): void;
  write(target: DeviceRange, bytes: Uint8Array): void;
}

/**
 * Launches with their bind groups, copies and writes in order. A recording is told of buffers that are
 * destroyed, and holds on to the parameters of its launches.
 */
export class LaunchRecorder implements LaunchRecording, RecordedLaunches, BufferUser {
  launchCount = 0;
  readonly buffers = new Set<DeviceBuffer>();

  readonly #queue: RecordedQueue;
  readonly #faultCount: number;
  readonly #params: ParamArena;
  readonly #steps: Step[] = [];
  readonly #slots: ParamSlot[] = [];
  readonly #users = new Set<WebGpuBuffer>();
  #offsets: number[] = [];
  #writeByteLength = 0;
  #isInvalid = false;

  constructor(queue: RecordedQueue, params: ParamArena) {
    this.#queue = queue;
    this.#faultCount = queue.faultCount;
    this.#params = params;
  }

  pause(): void {
    if (this.#queue.recording === this) this.#queue.recording = undefined;
  }

  resume(): void {
    // Another recording has begun meanwhile: what happens from now on goes there.
    if (this.#queue.recording !== undefined && this.#queue.recording !== this) this.invalidate();
    else if (!this.#isInvalid) this.#queue.recording = this;
  }

  /** Something happens that cannot be repeated. */
  invalidate(): void {
    this.pause();
    this.dispose();
  }

  finish(): RecordedLaunches | undefined {
    this.pause();
    this.#closeList();
    return this.#isInvalid ? undefined : this;
  }

  addLaunch(launch: CompiledLaunch, group: GPUBindGroup, buffers: readonly WebGpuBuffer[]): void {
    if (++this.launchCount > MAX_LAUNCHES) return this.invalidate();
    const last = this.#steps.at(-1);
    const list = last?.kind === 'launches' ? last.list : this.#openList();
    list.launches.push(launch);
    list.pipelines.push(launch.pipeline.pipeline);
    list.groups.push(group);
    list.workgroups.push(...launch.workgroups);
    this.#offsets.push(launch.params?.byteOffset ?? NO_OFFSET);
    if (launch.params !== undefined) {
      this.#params.retain(launch.params);
      this.#slots.push(launch.params);
    }
    for (const [i, buffer] of buffers.entries()) {
      this.#use(buffer);
      list.used.add(buffer);
      if (launch.writes[i] === true) list.written.add(buffer);
    }
  }

  addCopy(from: DeviceRange, to: DeviceRange): void {
    this.#closeList();
    this.#steps.push({ kind: 'copy', from, to });
    this.#use(from.buffer as WebGpuBuffer);
    this.#use(to.buffer as WebGpuBuffer);
  }

  addWrite(target: DeviceRange, bytes: Uint8Array): void {
    this.#writeByteLength += bytes.byteLength;
    if (this.#writeByteLength > MAX_WRITE_BYTE_LENGTH) return this.invalidate();
    this.#closeList();
    this.#steps.push({ kind: 'write', target, bytes: bytes.slice() });
    this.#use(target.buffer as WebGpuBuffer);
  }

  isUsable(): boolean {
    const { recording, profiler, faultCount } = this.#queue;
    const isIdle = recording === undefined && profiler === undefined;
    return !this.#isInvalid && isIdle && faultCount === this.#faultCount;
  }

  replay(begin = 0, count = Number.POSITIVE_INFINITY): number | undefined {
    const end = begin + count;
    let at = 0;
    for (const step of this.#steps) {
      const length = step.kind === 'launches' ? step.list.pipelines.length : 1;
      const from = Math.max(begin - at, 0);
      const to = Math.min(end - at, length);
      at += length;
      if (from >= to) continue;
      if (step.kind === 'launches') {
        const isWhole = to - from === length;
        this.#queue.launchAll(isWhole ? step.list : step.list.part(from, to));
      } else if (step.kind === 'copy') this.#queue.copy(step.from, step.to);
      else this.#queue.write(step.target, step.bytes);
    }
    return at > end ? end : undefined;
  }

  /** A buffer of the recording is destroyed. */
  drop(): void {
    this.invalidate();
  }

  dispose(): void {
    this.#isInvalid = true;
    for (const slot of this.#slots) this.#params.release(slot);
    for (const buffer of this.#users) buffer.users.delete(this);
    this.#slots.length = 0;
    this.#steps.length = 0;
    this.#users.clear();
    this.buffers.clear();
  }

  #use(buffer: WebGpuBuffer): void {
    if (this.#users.has(buffer)) return;
    this.#users.add(buffer);
    this.buffers.add(buffer);
    buffer.users.add(this);
  }

  #openList(): LaunchList {
    const list = new LaunchList();
    this.#steps.push({ kind: 'launches', list });
    return list;
  }

  #closeList(): void {
    const last = this.#steps.at(-1);
    if (last?.kind === 'launches') last.list.offsets = Uint32Array.from(this.#offsets);
    this.#offsets = [];
  }
}
