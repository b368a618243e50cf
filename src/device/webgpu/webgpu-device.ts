import type { DeviceLostError } from '../../core/errors.ts';
import { isGpuDevice } from '../../core/contracts/gpu-like.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { refuseProgramKernels } from '../../ops/program/wgsl-kernel.ts';
import { checkRange } from '../check-range.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceCounters,
  DeviceInfo,
  DevicePictures,
  DeviceQueue,
  DeviceRange,
  DeviceRecording,
  DeviceTuning,
  KernelTiming,
  PageMemory,
  PreparedKernels,
  PrepareOptions,
} from '../device.ts';
import { CompilationLog } from '../device-events.ts';
import { type AdapterOptions, type OpenedAdapter, openAdapter } from './adapter.ts';
import { BindGroupCache } from './kernels/bind-group-cache.ts';
import { asWebGpuBuffer, BufferTable } from './memory/buffers.ts';
import { CommandQueue } from './command-queue.ts';
import { DeviceFaults } from './faults/device-faults.ts';
import { FIRST_MOST_LAUNCHES } from './faults/device-watchdog.ts';
import { type KernelPlanner, kernelPlanner } from './kernels/kernel-planner.ts';
import { LaunchRecorder } from './launch-recorder.ts';
import type { DrawContext } from './pictures/draw-tensor.ts';
import type { LastingMemory } from './page/page-hooks.ts';
import { ParamArena } from './memory/param-arena.ts';
import { PipelineCache } from './kernels/pipeline-cache.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import { prepareKernels } from './kernels/prepare-kernels.ts';
import { alignToBlock, ReadbackRing } from './memory/readback-ring.ts';
import { ScratchPool } from './memory/scratch-pool.ts';
import { unfinishedDevices } from './faults/unfinished-devices.ts';

export interface WebGpuDeviceOptions extends Omit<AdapterOptions, 'gpu'> {
  /** Also a device of the page's own. */
  readonly gpu: GPU | GPUDevice | undefined;
  /** OperatorTable that primitives may call. */
  readonly operators: OperatorTable;
}

/**
 * A device on WebGPU, in a page, a worker or Node. Throws DeviceError when there is no adapter.
 * Work is submitted in order; errors of the GPU reject the next read or synchronize.
 */
export async function createWebGpuDevice(options: WebGpuDeviceOptions): Promise<Device> {
  const { gpu, adapterClass } = options;
  const opened = isGpuDevice(gpu)
    ? await (await import('./page/open-page-device.ts')).openPageDevice(gpu, adapterClass)
    : await openAdapter({ ...options, gpu });
  return new WebGpuDevice(opened, kernelPlanner(opened.caps, options.operators), options);
}

export class WebGpuDevice implements Device {
  readonly kind = 'webgpu';
  readonly info: DeviceInfo;
  readonly lost: Promise<DeviceLostError>;

  readonly #device: GPUDevice;
  readonly #planner: KernelPlanner;
  readonly #hasTimestamps: boolean;
  readonly #faults: DeviceFaults;
  readonly events: CompilationLog;
  readonly #buffers: BufferTable;
  readonly #pipelines: PipelineCache;
  readonly #bindGroups: BindGroupCache;
  readonly #scratch: ScratchPool;
  readonly #queue: CommandQueue;
  readonly #params: ParamArena;
  readonly #readbacks: ReadbackRing;
  /** The device, or what gives it back to the page. */
  readonly #own: LastingMemory;
  /** What pictures and memory of the page need. */
  readonly #context: DrawContext;
  #readbackCount = 0;
  readonly page: PageMemory | undefined;

  readonly queue: DeviceQueue = {
    settle: async () => this.#faults.untilLost(this.#faults.settle(this.#faults.serial)),
    drain: () => {
      const finished = this.#finished(this.#queue.finishRun());
      const over = (): void => undefined;
      return this.#faults.untilLost(finished).then(over, over);
    },
    isBusy: () => this.#faults.watchdog.isBusy,
  };

  readonly recording: DeviceRecording = {
    begin: () => {
      const queue = this.#queue;
      if (queue.recording !== undefined || queue.profiler !== undefined) return undefined;
      return new LaunchRecorder(queue, this.#params);
    },
  };

  readonly tuning: DeviceTuning = {
    choices: () => this.#planner.measured?.entries() ?? [],
    use: async (choices) => {
      const { TunedChoices } = await import('./tuning/tuned-choices.ts');
      this.#planner.measured = new TunedChoices(choices);
    },
  };

  readonly pictures: DevicePictures = {
    draw: async (tensor, elements) => {
      const { drawTensor } = await import('./pictures/draw-tensor.ts');
      return this.#faults.untilLost(drawTensor(tensor, elements, this.#context));
    },
    prepare: async (picture, target) => {
      const { preparePicture } = await import('./pictures/prepare-picture.ts');
      return this.#faults.untilLost(preparePicture(picture, target, this.#context));
    },
    sample: async (picture, targets) => {
      const { sampleRegions } = await import('./pictures/sample-regions.ts');
      return this.#faults.untilLost(sampleRegions(picture, targets, this.#context));
    },
  };

  /** While the owner of what the device works on says nothing else, `deviceTimeout` is for that. */
  constructor(
    { device, info, hasTimestamps, join }: OpenedAdapter,
    planner: KernelPlanner,
    { deviceTimeout }: Pick<AdapterOptions, 'deviceTimeout'> = {},
  ) {
    this.info = info;
    this.events = new CompilationLog(info.name);
    this.#device = device;
    this.#planner = planner;
    this.#hasTimestamps = hasTimestamps;
    const mostLaunches = info.adapterClass === 'software' ? FIRST_MOST_LAUNCHES : undefined;
    this.#faults = new DeviceFaults(device, deviceTimeout, mostLaunches);
    this.lost = this.#faults.lost;
    void this.lost.then(() => this.#retire());
    this.#buffers = new BufferTable(device, this.#faults, info.name);
    this.#pipelines = new PipelineCache(device, this.#faults, this.events);
    this.#bindGroups = new BindGroupCache(device);
    this.#scratch = new ScratchPool(this.#buffers);
    this.#queue = new CommandQueue({
      device,
      faults: this.#faults,
      buffers: this.#buffers,
      bindGroups: this.#bindGroups,
      scratch: this.#scratch,
      mend: () => {
        this.#bindGroups.clear();
        this.#params.restore();
      },
    });
    this.#params = new ParamArena({
      queue: device.queue,
      buffers: this.#buffers,
      faults: this.#faults,
      flush: () => this.#queue.flush(),
    });
    this.#readbacks = new ReadbackRing(this.#buffers, device.queue);
    const memory = [this.#params, this.#readbacks];
    this.#context = { device, queue: this.#queue, faults: this.#faults };
    const joined = join?.(this.#context, { flush: () => this.flush(), memory });
    this.page = joined?.page;
    this.#own = joined ?? device;
  }

  async prepare(
    primitives: readonly PrimitiveFunction[],
    options: PrepareOptions = {},
  ): Promise<PreparedKernels> {
    this.#faults.throwIfEnded();
    const { programKernels, workgroupLimit } = options;
    if (programKernels === 'refuse') refuseProgramKernels(primitives);
    const context = {
      planner:
        workgroupLimit === undefined
          ? this.#planner
          : (await import('./kernels/limit-workgroups.ts')).limitWorkgroups(
              this.#planner,
              workgroupLimit,
            ),
      queue: this.#queue,
      params: this.#params,
      pipelines: this.#pipelines,
      scratch: this.#scratch,
      buffers: this.#buffers,
      faults: this.#faults,
      adapterName: this.info.name,
      device: this,
    };
    return this.#faults.untilLost(prepareKernels(primitives, context, options));
  }

  createBuffer(byteLength: number): DeviceBuffer {
    return this.#buffers.create(byteLength, 'buffer');
  }

  write(buffer: DeviceBuffer, byteOffset: number, bytes: Uint8Array): void {
    const { begin } = this.events;
    this.#queue.write({ buffer, byteOffset, byteLength: bytes.byteLength }, bytes);
    this.events.moved('upload', [bytes], begin);
  }

  copy(from: DeviceRange, to: DeviceRange): void {
    const { begin } = this.events;
    this.#queue.copy(from, to);
    this.events.moved('copy', [from], begin);
  }

  async read(ranges: readonly DeviceRange[]): Promise<Uint8Array[]> {
    this.#faults.throwIfEnded();
    const byteLengths = ranges.map((range) => range.byteLength);
    if (!byteLengths.some(Boolean)) return ranges.map(() => new Uint8Array());
    const lastWrites: number[] = [];
    for (const range of ranges) {
      checkRange('read', range);
      lastWrites.push(asWebGpuBuffer(range.buffer).lastWrite);
    }
    this.#readbackCount++;
    const { begin } = this.events;
    const copy = (encoder: GPUCommandEncoder, staging: GPUBuffer): void =>
      this.#copyToStaging(encoder, ranges, staging);
    const blocks = await this.#readBack(byteLengths, copy, lastWrites);
    this.events.moved('readback', blocks, begin);
    return blocks;
  }

  readSync(): undefined {
    return undefined;
  }

  flush(): void {
    this.#faults.throwIfEnded();
    this.#faults.watchdog.probe(this.#queue.finishRun());
  }

  async synchronize(): Promise<void> {
    this.#faults.throwIfEnded();
    const serial = this.#queue.finishRun();
    return this.#typed(this.#afterErrors(this.#finished(serial), serial, []), 'synchronize');
  }

  async startProfile(): Promise<() => Promise<readonly KernelTiming[]>> {
    const { startProfile } = await import('./profile-launches.ts');
    return startProfile({
      isObserved: this.events.observers.size > 0,
      device: this.#device,
      hasTimestamps: this.#hasTimestamps,
      faults: this.#faults,
      buffers: this.#buffers,
      queue: this.#queue,
      synchronize: () => this.synchronize(),
      readBack: (byteLengths, record) => this.#readBack(byteLengths, record, []),
    });
  }

  counters(): DeviceCounters {
    return {
      buffersCreated: this.#buffers.created,
      buffersLive: this.#buffers.live,
      bytesLive: this.#buffers.bytesLive,
      pipelinesCreated: this.#pipelines.created,
      pipelinesLive: this.#pipelines.live,
      bindGroupsCreated: this.#bindGroups.created,
      launches: this.#queue.launches,
      scratchBytes: this.#scratch.byteLength,
      submits: this.#queue.submits,
      readbacks: this.#readbackCount,
    };
  }

  destroy(): void {
    this.#faults.destroyed();
    this.#retire();
  }

  /** Destroys the device as soon as it has finished its work, before which that would block. */
  #retire(): void {
    const device = this.#device;
    const { watchdog } = this.#faults;
    unfinishedDevices.set(device, watchdog);
    watchdog.whenFinished(() => {
      unfinishedDevices.delete(device);
      this.#own.destroy();
    });
  }

  #finished(serial: number): Promise<void> {
    const finished = this.#device.queue.onSubmittedWorkDone().then(() => undefined);
    return this.#faults.watchdog.finishes(serial, finished);
  }

  /** The value of `work` unless something up to `serial` failed; that error comes first. */
  async #afterErrors<T>(
    work: Promise<T>,
    serial: number,
    lastWrites: readonly number[],
  ): Promise<T> {
    const [outcome] = await Promise.allSettled([work]);
    await this.#faults.settle(serial, lastWrites);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  #copyToStaging(
    encoder: GPUCommandEncoder,
    ranges: readonly DeviceRange[],
    staging: GPUBuffer,
  ): void {
    let target = 0;
    for (const range of ranges) {
      const buffer = asWebGpuBuffer(range.buffer);
      buffer.lastUse = this.#faults.serial;
      if (range.byteLength > 0) {
        const { byteOffset, byteLength } = range;
        encoder.copyBufferToBuffer(buffer.gpuBuffer, byteOffset, staging, target, byteLength);
      }
      target += alignToBlock(range.byteLength);
    }
  }

  async #readBack(
    byteLengths: readonly number[],
    record: (encoder: GPUCommandEncoder, staging: GPUBuffer) => void,
    lastWrites: readonly number[],
  ): Promise<Uint8Array[]> {
    const byteLength = byteLengths.reduce((sum, length) => sum + alignToBlock(length), 0);
    const staging = this.#readbacks.take(byteLength);
    this.#queue.record((encoder) => record(encoder, staging));
    const serial = this.#queue.finishRun();
    const blocks = this.#faults.watchdog.finishes(
      serial,
      this.#readbacks.read(staging, byteLengths),
    );
    return this.#typed(this.#afterErrors(blocks, serial, lastWrites), 'readback');
  }

  /** The value of `work`, or an error of Weft's own: that of the device where it was lost. */
  async #typed<T>(work: Promise<T>, where: string): Promise<T> {
    try {
      return await this.#faults.untilLost(work);
    } catch (cause) {
      throw (await import('./faults/unreadable.ts')).unreadable(cause, where);
    }
  }
}
