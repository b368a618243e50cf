import { internalError } from '../../core/errors.ts';
import { checkRange } from '../check-range.ts';
import type { DeviceRange, DeviceTensor, IdleMemory, LaunchOwner } from '../device.ts';
import type { BindGroupCache } from './kernels/bind-group-cache.ts';
import {
  asWebGpuBuffer,
  type BufferTable,
  roundUpToGranule,
  type WebGpuBuffer,
} from './memory/buffers.ts';
import type { CompiledLaunch, CompiledPlan } from './kernels/compiled-plan.ts';
import type { DeviceFaults } from './faults/device-faults.ts';
import type { PrepackedCall, PrepackedWeights } from './memory/prepacked-weights.ts';
import { type LaunchList, type LaunchRecorder, NO_OFFSET } from './launch-recorder.ts';
import type { LaunchProfiler } from './launch-profiler.ts';
import type { ScratchPool } from './memory/scratch-pool.ts';

/** The first submission of a run goes out early, so that the GPU starts while the rest is recorded. */
const FIRST_FLUSH_LAUNCHES = 8;
const NEXT_FLUSH_LAUNCHES = 48;
/** `writeBuffer` stages its bytes until the next submission, so large writes go in portions. */
const WRITE_PORTION_BYTE_LENGTH = 16 * 1024 * 1024;

interface CommandQueueContext {
  readonly device: GPUDevice;
  readonly faults: DeviceFaults;
  readonly buffers: BufferTable;
  readonly bindGroups: BindGroupCache;
  readonly scratch: ScratchPool;
  /** Recomputes buffers that faults may have damaged, before the next launch. */
  readonly mend: () => void;
}

/** Limits of a program's launches. */
export interface LaunchMemory {
  readonly owner?: LaunchOwner | undefined;
  readonly weights?: PrepackedWeights | undefined;
  readonly idle?: IdleMemory | undefined;
}

/**
 * Records launches and copies into one encoder with one open pass, and submits them in order.
 * Everything between two submissions shares error scopes, whose errors reach the next reader.
 */
export class CommandQueue {
  launches = 0;
  submits = 0;
  profiler: LaunchProfiler | undefined;
  /** Records work for replays, where that is wanted. */
  recording: LaunchRecorder | undefined;

  readonly #context: CommandQueueContext;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #passPipeline: GPUComputePipeline | undefined;
  #recorded = 0;
  /** The launches among the recorded commands. */
  #work: (CompiledLaunch | readonly CompiledLaunch[])[] = [];
  #flushAfter = FIRST_FLUSH_LAUNCHES;
  /** Faults after which all was mended. */
  #mendedFaults = 0;

  /** Reused for every launch: the bindings that are being put together. */
  readonly #boundBuffers: WebGpuBuffer[] = [];
  readonly #boundOffsets: number[] = [];
  readonly #boundLengths: number[] = [];
  /** The most bytes that a binding may have. */
  readonly #mostBound: number;
  readonly #dynamicOffset = new Uint32Array(1);
  /** Scratch of the plan that is being recorded, by position. */
  readonly #scratch: WebGpuBuffer[] = [];

  constructor(context: CommandQueueContext) {
    this.#context = context;
    this.#mostBound = context.device.limits.maxStorageBufferBindingSize;
  }

  /** Errors of the device so far. */
  get faultCount(): number {
    return this.#context.faults.count;
  }

  /** Records all launches of a plan but those whose results are in `weights`. */
  launch(
    plan: CompiledPlan,
    args: readonly DeviceTensor[],
    { weights, idle }: LaunchMemory = {},
  ): void {
    const { faults, scratch } = this.#context;
    faults.throwIfEnded();
    this.#mend();
    const call: PrepackedCall | undefined = plan.mayPrepack ? weights?.find(plan, args) : undefined;
    const { scratchByteLengths } = plan;
    if (scratchByteLengths.length > 0) {
      scratch.collect(this.#scratch, scratchByteLengths, { given: call?.scratch, idle });
    }
    for (const launch of plan.launches) {
      const prepacked = call?.launches.get(launch);
      if (prepacked?.isFilled === true) continue;
      this.#encodeLaunch(launch, args);
      if (prepacked !== undefined) prepacked.isFilled = true;
    }
    if (this.#recorded >= Math.min(this.#flushAfter, faults.watchdog.mostLaunches)) {
      this.flush();
      this.#flushAfter = NEXT_FLUSH_LAUNCHES;
    }
  }

  /** Launches again what was recorded. Goes out with what follows, unless much is waiting. */
  launchAll(list: LaunchList): void {
    const { faults } = this.#context;
    faults.throwIfEnded();
    this.#mend();
    const count = list.pipelines.length;
    const { mostLaunches } = faults.watchdog;
    if (count > mostLaunches) {
      for (let i = 0; i < count; i += mostLaunches) {
        this.launchAll(list.part(i, Math.min(i + mostLaunches, count)));
        this.flush();
      }
      return;
    }
    if (this.#recorded >= NEXT_FLUSH_LAUNCHES) this.flush();
    const encoder = this.#open();
    const pass = this.#beginPass(encoder);
    const { pipelines, groups, workgroups } = list;
    const offsets = list.offsets as Uint32Array;
    for (let i = 0, at = 0; i < pipelines.length; i++, at += 3) {
      const pipeline = pipelines[i] as GPUComputePipeline;
      const group = groups[i] as GPUBindGroup;
      if (pipeline !== this.#passPipeline) {
        pass.setPipeline(pipeline);
        this.#passPipeline = pipeline;
      }
      if (offsets[i] === NO_OFFSET) pass.setBindGroup(0, group);
      else pass.setBindGroup(0, group, offsets, i, 1);
      pass.dispatchWorkgroups(workgroups[at] ?? 0, workgroups[at + 1], workgroups[at + 2]);
    }
    const { serial } = faults;
    for (const buffer of list.used) buffer.lastUse = serial;
    for (const buffer of list.written) buffer.lastWrite = serial;
    this.launches += pipelines.length;
    this.#recorded += pipelines.length;
    this.#work.push(list.launches);
  }

  copy(from: DeviceRange, to: DeviceRange): void {
    const { byteLength } = from;
    checkRange('copy from', from);
    checkRange('copy to', to);
    if (to.byteLength !== byteLength) {
      throw internalError(`a copy of ${byteLength} bytes into ${to.byteLength}`);
    }
    if (byteLength === 0) return;
    this.recording?.addCopy(from, to);
    const source = asWebGpuBuffer(from.buffer);
    const target = asWebGpuBuffer(to.buffer);
    if (source === target) {
      if (from.byteOffset === to.byteOffset) return;
      // WebGPU copies only between different buffers.
      const between = this.#context.scratch.get(0, byteLength);
      this.#copy(source, from.byteOffset, { target: between, byteOffset: 0, byteLength });
      this.#copy(between, 0, { target, byteOffset: to.byteOffset, byteLength });
    } else {
      this.#copy(source, from.byteOffset, { target, byteOffset: to.byteOffset, byteLength });
    }
  }

  write(target: DeviceRange, bytes: Uint8Array): void {
    this.#context.faults.throwIfEnded();
    checkRange('write', target);
    const buffer = asWebGpuBuffer(target.buffer);
    this.recording?.addWrite(target, bytes);
    const { device, faults } = this.#context;
    if (buffer.lastUse === faults.serial) this.flush();
    const source = bytes as Uint8Array<ArrayBuffer>;
    for (let done = 0; done < bytes.byteLength; done += WRITE_PORTION_BYTE_LENGTH) {
      const size = Math.min(WRITE_PORTION_BYTE_LENGTH, bytes.byteLength - done);
      faults.scopedWrite(() =>
        device.queue.writeBuffer(buffer.gpuBuffer, target.byteOffset + done, source, done, size),
      );
      if (size === WRITE_PORTION_BYTE_LENGTH) device.queue.submit([]);
    }
    buffer.lastWrite = faults.serial;
  }

  /** Lets `record` add commands outside a compute pass. They are submitted with the rest. */
  record(record: (encoder: GPUCommandEncoder) => void): void {
    this.recording?.invalidate();
    this.#record(record);
  }

  #record(record: (encoder: GPUCommandEncoder) => void): void {
    const encoder = this.#open();
    this.#endPass();
    record(encoder);
  }

  /** Submits what was recorded, and lets the rest of the run follow. */
  flush(): void {
    if (this.#encoder !== undefined) this.#context.faults.watchdog.probe(this.#submit());
  }

  /** Returns the serial of the last submission. */
  #submit(): number {
    const { device, faults, buffers } = this.#context;
    const encoder = this.#encoder;
    if (encoder === undefined) return faults.serial;
    this.#endPass();
    this.#encoder = undefined;
    this.#recorded = 0;
    this.profiler?.submitted();
    device.queue.submit([encoder.finish()]);
    const serial = faults.endSubmission();
    faults.watchdog.submitted(serial, this.#work);
    this.#work = [];
    this.submits++;
    buffers.submitted();
    return serial;
  }

  /**
   * Submits, and expects a new run: its first launches will go out early again. Returns the serial of
   * the last submission, whose end the caller waits for and tells the watchdog.
   */
  finishRun(): number {
    this.#flushAfter = FIRST_FLUSH_LAUNCHES;
    return this.#submit();
  }

  #mend(): void {
    const { faults, mend } = this.#context;
    if (this.#mendedFaults === faults.count) return;
    this.#mendedFaults = faults.count;
    this.flush();
    mend();
  }

  #encodeLaunch(launch: CompiledLaunch, args: readonly DeviceTensor[]): void {
    const encoder = this.#open();
    this.#collectBindings(launch, args);
    const group = this.#bindGroup(launch);
    this.recording?.addLaunch(launch, group, this.#boundBuffers);
    const { pipeline } = launch.pipeline;
    const pass = this.#beginPass(encoder, launch);
    if (pipeline !== this.#passPipeline) {
      pass.setPipeline(pipeline);
      this.#passPipeline = pipeline;
    }
    if (launch.params === undefined) {
      pass.setBindGroup(0, group);
    } else {
      this.#dynamicOffset[0] = launch.params.byteOffset;
      pass.setBindGroup(0, group, this.#dynamicOffset, 0, 1);
    }
    const [x, y, z] = launch.workgroups;
    pass.dispatchWorkgroups(x, y, z);
    if (this.profiler !== undefined) this.#endPass();
    this.launches++;
    this.#recorded++;
    this.#work.push(launch);
  }

  #bindGroup(launch: CompiledLaunch): GPUBindGroup {
    return this.#context.bindGroups.get({
      label: launch.label,
      layout: launch.pipeline.layout,
      page: launch.params?.page,
      paramByteLength: launch.params?.byteLength ?? 0,
      buffers: this.#boundBuffers,
      byteOffsets: this.#boundOffsets,
      byteLengths: launch.hasManySizes ? this.#boundLengths : launch.byteLengths,
      writes: launch.writes,
    });
  }

  #collectBindings(launch: CompiledLaunch, args: readonly DeviceTensor[]): void {
    const { faults, scratch } = this.#context;
    const { bindings, writes } = launch;
    this.#boundBuffers.length = bindings.length;
    this.#boundOffsets.length = bindings.length;
    for (let i = 0; i < bindings.length; i++) {
      const binding = bindings[i];
      if (binding === undefined) continue;
      let buffer: WebGpuBuffer;
      let byteOffset = 0;
      if (binding.kind === 'argument') {
        const tensor = args[binding.index];
        if (tensor === undefined) {
          throw internalError(`${launch.primitive} was called without argument ${binding.index}`);
        }
        buffer = asWebGpuBuffer(tensor.buffer);
        byteOffset = tensor.byteOffset;
      } else if (binding.kind === 'scratch') {
        const temporary = this.#scratch[binding.index];
        if (temporary === undefined) throw internalError(`${launch.label} has no scratch`);
        buffer = temporary;
      } else {
        buffer = scratch.empty(writes[i] === true);
      }
      this.#boundBuffers[i] = buffer;
      this.#boundOffsets[i] = byteOffset;
      buffer.lastUse = faults.serial;
      if (writes[i] === true) buffer.lastWrite = faults.serial;
    }
    if (launch.hasManySizes) this.#collectLengths(launch);
  }

  /** Binds to the end of each buffer, unless another binding is of the same one. */
  #collectLengths({ byteLengths }: CompiledLaunch): void {
    const buffers = this.#boundBuffers;
    for (const [i, buffer] of buffers.entries()) {
      const rest = roundUpToGranule(buffer.byteLength - (this.#boundOffsets[i] ?? 0));
      const isAlone = buffers.indexOf(buffer) === buffers.lastIndexOf(buffer);
      this.#boundLengths[i] = isAlone && rest <= this.#mostBound ? rest : (byteLengths[i] ?? 0);
    }
  }

  #open(): GPUCommandEncoder {
    if (this.#encoder !== undefined) return this.#encoder;
    const { device, faults } = this.#context;
    faults.throwIfEnded();
    faults.beginSubmission();
    this.#encoder = device.createCommandEncoder({ label: 'weft' });
    return this.#encoder;
  }

  #beginPass(encoder: GPUCommandEncoder, launch?: CompiledLaunch): GPUComputePassEncoder {
    if (this.#pass !== undefined) return this.#pass;
    const descriptor = (launch && this.profiler?.beginPass(launch)) ?? {};
    this.#pass = encoder.beginComputePass(descriptor);
    this.#passPipeline = undefined;
    return this.#pass;
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }

  #copy(
    source: WebGpuBuffer,
    sourceOffset: number,
    to: { readonly target: WebGpuBuffer; readonly byteOffset: number; readonly byteLength: number },
  ): void {
    this.#record((encoder) =>
      encoder.copyBufferToBuffer(
        source.gpuBuffer,
        sourceOffset,
        to.target.gpuBuffer,
        to.byteOffset,
        to.byteLength,
      ),
    );
    const { serial } = this.#context.faults;
    source.lastUse = serial;
    to.target.lastUse = serial;
    to.target.lastWrite = serial;
  }
}
