import type { CompileModeOption } from '../core/contracts/compile-mode.ts';
import type { PrecisionOption } from '../core/contracts/precision.ts';
import type { DrawnElements } from '../core/tensor/drawn-elements.ts';
import type { DType } from '../core/tensor/dtype.ts';
import type { DeviceLostError } from '../core/errors.ts';
import type { GpuBufferLike, PageGpuBuffer } from '../core/contracts/gpu-like.ts';
import type { HostTensor } from '../core/tensor/host-tensor.ts';
import type { KernelSource } from '../core/contracts/kernel-source.ts';
import type { AdapterClass } from '../core/contracts/launch-plan.ts';
import type { PictureSource } from '../core/pictures/picture-source.ts';
import type { PictureSteps } from '../core/pictures/picture-steps.ts';
import type { RegionSteps } from '../core/pictures/sample-region.ts';
import type { TimelineEvent } from '../core/contracts/run-timeline.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import type { Shape } from '../core/tensor/shape.ts';

/** Where tensors live and kernels run. The VM knows devices by this interface only. */
export interface Device {
  /**
   * The kind of device. Defaults depend on it, such as how many bytes of constants are prepacked.
   */
  readonly kind: 'host' | 'wasm' | 'webgpu';
  /** Its name and its limits. */
  readonly info: DeviceInfo;

  /**
   * Compiles everything that `primitives` need, so that launching compiles nothing. Throws UnsupportedError that
   * names every primitive the device cannot run, and waits for no pipeline then.
   */
  prepare(
    primitives: readonly PrimitiveFunction[],
    options?: PrepareOptions,
  ): Promise<PreparedKernels>;

  /** A zeroed buffer. Throws OutOfMemoryError or DeviceLostError. */
  createBuffer(byteLength: number): DeviceBuffer;

  /** Copies host bytes in, ordered after everything launched so far. Length: whole words. */
  write(buffer: DeviceBuffer, byteOffset: number, bytes: Uint8Array): void;

  /** Copies within the device, in order with launches. */
  copy(from: DeviceRange, to: DeviceRange): void;

  /**
   * Bytes of ranges after all work launched so far, in one round trip. Rejects with the first
   * error of that work; never resolves to bytes that the work did not produce. A device may put them
   * into buffers of `room` that have their lengths.
   */
  read(ranges: readonly DeviceRange[], room?: readonly ArrayBuffer[]): Promise<Uint8Array[]>;

  /** Reads without waiting where the device can (the host); undefined where it must wait. */
  readSync(range: DeviceRange): Uint8Array | undefined;

  /** Hands pending launches to the device without waiting for them. */
  flush(): void;

  /** Resolves when all work launched so far is done; rejects with its first error. */
  synchronize(): Promise<void>;

  /**
   * Once it resolves the time of each launch is recorded, until the function that it resolves to is
   * called. Where {@link events} are observed by then, the device also tells when launches began.
   */
  startProfile(): Promise<() => Promise<readonly KernelTiming[]>>;

  /** Resolves when the device is lost without having been destroyed by us. */
  readonly lost: Promise<DeviceLostError>;

  /** What the device does beside launches. Absent where it tells nothing. */
  readonly events?: ObservedEvents | undefined;

  /** Absent where launches are over when they return. */
  readonly queue?: DeviceQueue | undefined;

  /** Absent where there is nothing to gain by repeating launches. */
  readonly recording?: DeviceRecording | undefined;

  /** Absent where the device has no choice between kernels. */
  readonly tuning?: DeviceTuning | undefined;

  /** Absent where elements are in memory of the processor, and pictures come through it. */
  readonly pictures?: DevicePictures | undefined;

  /** Absent but on a GPU device that the page brought. */
  readonly page?: PageMemory | undefined;

  /** Counters since creation, for tests, benchmarks and the inspector. */
  counters(): DeviceCounters;

  /** Every call from now on fails. Work that was submitted may end first. */
  destroy(): void;
}

/** Work that goes on after the call that began it. */
export interface DeviceQueue {
  /**
   * Resolves when it is known how all writes so far went, or rejects: what is written to stay, such as
   * constants, is not read for long.
   */
  settle(): Promise<void>;
  /**
   * Hands pending launches to the device and resolves when they are over, however they went: errors
   * are left to whoever reads.
   */
  drain(): Promise<void>;
  /** Returns true while submitted work is unfinished, also after {@link Device.destroy}. */
  isBusy(): boolean;
}

/** Records launches, copies and writes, which are carried out as ever, so that they can be repeated. */
export interface DeviceRecording {
  /** One recording at a time: undefined while another one is under way or launches are profiled. */
  begin(): LaunchRecording | undefined;
}

/** Choices between kernels that were tuned on a device, as plain data. */
export interface DeviceTuning {
  /** Those that were tuned; not those that {@link use} gave it. */
  choices(): readonly TunedChoice[];
  /** Takes such choices for all that is prepared from now on; those of other plans have no effect. */
  use(choices: readonly TunedChoice[]): Promise<void>;
}

/** Pictures that become tensors, and tensors that become pictures, without passing through memory of the processor. */
export interface DevicePictures {
  /**
   * A picture of a tensor after all work launched so far, which nothing reads. Rejects with UnsupportedError where there are no
   * canvases.
   */
  draw(tensor: DeviceTensor, elements: DrawnElements): Promise<ImageBitmap>;
  /** Resizes a picture of the page and writes its elements, in order with launches, without reading anything. */
  prepare(picture: PictureSource, target: PictureTarget): Promise<void>;
  /** Samples regions of a picture of the page, in order with launches, without reading anything. */
  sample(picture: PictureSource, targets: readonly RegionTarget[]): Promise<void>;
}

/** Memory that a device shares with the page, on the GPU device that this brought. */
export interface PageMemory {
  /**
   * Memory of the page, to be read from an offset on. Destroying it leaves the page's buffer alone. Rejects with UsageError for a
   * buffer that kernels cannot read.
   */
  adopt(buffer: GpuBufferLike, range: Omit<DeviceRange, 'buffer'>): Promise<DeviceBuffer>;
  /** The GPU's own buffer under one of this device, with all that was launched so far submitted. */
  expose(buffer: DeviceBuffer): PageGpuBuffer;
}

/** A device as messages and pages show it. */
export interface DeviceInfo {
  /** Human-readable, such as `SwiftShader` or `host`. */
  readonly name: string;
  /** The maker of the adapter; empty where there is none. */
  readonly vendor: string;
  /** The family of the adapter; empty where there is none. */
  readonly architecture: string;
  /** The class of adapters that kernels are planned for. */
  readonly adapterClass: AdapterClass | 'host' | 'wasm';
  /** The largest buffer, in bytes. */
  readonly maxBufferByteLength: number;
  /** Threads that share the work, one where others could not be started; absent: 1. */
  readonly threads?: number;
}

/**
 * An upload, a copy or a readback that a device was asked for, by the name of the device, or code that it compiled, by
 * the label of that; times are those of `performance.now()`. Uploads and copies of WebGPU take the time of handing them
 * over, since its queue tells nothing of them.
 */
export type DeviceEvent = Pick<TimelineEvent, 'name' | 'bytes' | 'beginMs' | 'endMs'> & {
  readonly kind: 'upload' | 'copy' | 'readback' | 'compile';
};

/** What a device does beside launches. */
export interface ObservedEvents {
  /** Those who are told of each event, as it ends. */
  readonly observers: Set<(event: DeviceEvent) => void>;
  /** The latest compilations, in the order of their ends; absent where nothing is compiled. */
  readonly latest?: readonly Compilation[];
}

/** Memory of a device. */
export interface DeviceBuffer {
  /** Its size in bytes. */
  readonly byteLength: number;
  /** True once it is known that there was no memory for it: not to be used again. */
  readonly isRefused?: boolean;
  /** Frees the memory once work that was launched before has finished. Idempotent. */
  destroy(): void;
}

/** Bytes of a buffer; offset and length are multiples of 4. */
export interface DeviceRange {
  /** The memory. */
  readonly buffer: DeviceBuffer;
  /** The offset of the first byte in the buffer, in bytes. */
  readonly byteOffset: number;
  /** How many bytes there are. */
  readonly byteLength: number;
}

/** A typed view of device memory, row-major. `byteOffset` is a multiple of 256. */
export interface DeviceTensor {
  /** The memory. */
  readonly buffer: DeviceBuffer;
  /** The offset of the first element in the buffer, in bytes. */
  readonly byteOffset: number;
  /** The dtype of the elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;
  /** True if the elements never change while the buffer lives, as those of constants. */
  readonly isReadOnly?: boolean;
}

/** Memory for constants in the form that kernels want. */
export interface PrepackingBudget {
  /** Takes bytes, gives negative ones back; false when there are not so many. */
  reserve(byteLength: number): boolean;
}

/** Memory that nothing uses at the moment. */
export interface IdleMemory {
  /**
   * The smallest buffer of at least so many bytes but those of `except`. Launches that are enqueued at
   * once may write to it: whoever gets it next launches later.
   */
  find(byteLength: number, except: readonly DeviceBuffer[]): DeviceBuffer | undefined;
}

/** Whoever launches kernels, as a device sees it that does not finish them. */
export interface LaunchOwner {
  /** Milliseconds that the device may finish nothing while a kernel of this owner is on it. */
  readonly deviceTimeout?: number | undefined;
  /**
   * Grows when the device is lost while its oldest work is of this owner: by one when the device went
   * by itself, by two when it did not answer.
   */
  faults: number;
}

/** The kinds of a program's own WGSL that a device takes. */
export interface ProgramKernelLimits {
  /** `refuse`: none of it. Default `allow`. */
  readonly programKernels?: 'allow' | 'refuse' | undefined;
  /** Workgroups that one launch of it may have at most, the product of its grid. Default: no bound. */
  readonly workgroupLimit?: number | undefined;
}

/** `compile` is about primitives of which all symbols are boundSymbols; others compile ahead. */
export interface PrepareOptions extends ProgramKernelLimits, CompileModeOption, PrecisionOption {
  /** Whoever launches the kernels. */
  readonly owner?: LaunchOwner | undefined;
  /** Without it, what kernels make of constants is made in each call. */
  readonly prepacking?: PrepackingBudget | undefined;
  /** Where kernels find temporary memory; what is not there, or too small, they make. */
  readonly idle?: IdleMemory | undefined;
  /** Symbols whose values {@link PreparedKernels.compileForSizes} will be told before a launch. */
  readonly boundSymbols?: ReadonlySet<string> | undefined;
  /** Ends the work, which then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with how many primitives of all are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Kernels of the primitive functions of a program. */
export interface PreparedKernels {
  /** The kernel of a primitive by name. */
  get(name: string): Kernel | undefined;
  /**
   * Makes ready what launches need when symbols of the primitives have these values, all at once.
   * Undefined when nothing has to be waited for. Rejects with DeviceError or DeviceLostError.
   */
  readonly compileForSizes?: (sizes: ReadonlyMap<string, number>) => Promise<void> | undefined;
  /**
   * Measures the variants of one kernel, `index` of `count`, for the sizes of its latest calls, and uses
   * the fastest from now on. Nothing else may use the device meanwhile, but between turns. Absent where
   * nothing can be chosen. Rejects with OutOfMemoryError, DeviceLostError or the signal's reason.
   */
  readonly tune?: (index: number, options?: TuneOptions) => Promise<TuningStep>;
  /** Steps without code of the device, as far as shapes are known before a launch. */
  readonly references?: readonly ReferenceStep[];
  /** Frees what it holds; its kernels are not used any more. */
  dispose(): void;
}

export interface ReferenceStep {
  readonly primitive: string;
  /** The operator, or several that are one step. */
  readonly label: string;
}

export interface TuneOptions {
  readonly signal?: AbortSignal | undefined;
  /** Turns in which the kernels are tuned. Default: one turn for all of them. */
  readonly turns?: TuningTurns | undefined;
  /** Leaves kernels alone that were tuned before, or whose tuning ended early again and again. */
  readonly isBackground?: boolean | undefined;
  /** Stores what {@link DeviceTuning.choices} tells by now, lest it be lost with the device. */
  readonly remember?: (() => Promise<unknown>) | undefined;
  /** A kernel has another plan from now on; called in a turn. */
  readonly onChange?: (() => void) | undefined;
}

/** When the device is to be had for measurements. */
export interface TuningTurns {
  /** Resolves when nothing else uses the device. */
  idle(): Promise<void>;
  /** Does work with the device for itself, when nothing else uses it. */
  take<T>(work: () => Promise<T>): Promise<T>;
}

export interface TuningStep {
  /** How many kernels are to be tuned in all. */
  readonly count: number;
  /** The findings for each size; empty where there is nothing to choose. */
  readonly kernels: readonly KernelTuning[];
}

export interface KernelTuning {
  /** Its name and the shapes of its parameters. */
  readonly kernel: string;
  /** Names of variants by place; empty where the planner's first choice stays. */
  readonly choices: Readonly<Record<string, string>>;
  /** Milliseconds of a call with the planner's first choice. */
  readonly firstMs: number;
  /** Milliseconds of a call with what was chosen. */
  readonly chosenMs: number;
  readonly tried: readonly TriedVariant[];
}

/** A variant of a kernel that was measured. */
export interface TriedVariant {
  readonly place: string;
  readonly name: string;
  /** Milliseconds of one call; undefined if the variant was refused. */
  readonly ms: number | undefined;
  /** Why it is out of the question, however fast. */
  readonly refusal: string | undefined;
}

/** A choice that outlives the device. */
export interface TunedChoice {
  /** Hash of the plan that it improves: code of its shaders, sizes and grid. */
  readonly plan: string;
  /** Hash of the plan that they make: kernels of another version are not taken for it. */
  readonly chosen?: string | undefined;
  /** Names of variants by place; none where the plan is the fastest itself. */
  readonly choices: Readonly<Record<string, string>>;
  /** How often tuning began and did not end; absent once it did. */
  readonly attempts?: number | undefined;
}

/** A primitive function made ready on one device. */
export interface Kernel {
  /** The name of the primitive function. */
  readonly name: string;
  /**
   * Enqueues the kernel: inputs, then outputs. Never waits. Shapes are those of the arguments and
   * have been checked by the caller's signature or by the compiler.
   */
  launch(args: readonly DeviceTensor[]): void;
  /**
   * In place of `launch`, for a primitive that makes its result itself: the result of inputs in host
   * memory. Only kernels of the host have it.
   */
  compute?(inputs: readonly HostTensor[]): HostTensor;
  /** Labels of steps that run references because the device has no code for them. */
  readonly references?: readonly string[];
  /**
   * The input whose memory the output may be, at the same place: the launch then changes that tensor, at the cost of
   * what it changes. Absent: the output lies apart from all inputs.
   */
  readonly overwrites?: number | undefined;
  /**
   * The code that calls run, for reading. Absent where the device cannot tell. Rejects with UnsupportedError while
   * only a call could tell the sizes.
   */
  source?(): Promise<KernelSource>;
}

/** A recording, as a device makes it. */
export interface LaunchRecording {
  /** Until {@link resume}, nothing is recorded: others use the device. */
  pause(): void;
  resume(): void;
  /** Ends the recording; undefined when what happened cannot be repeated. */
  finish(): RecordedLaunches | undefined;
}

/** Launches, copies and writes over the buffers that they had, ready to be enqueued again. */
export interface RecordedLaunches {
  readonly launchCount: number;
  /** All buffers that are read or written. */
  readonly buffers: ReadonlySet<DeviceBuffer>;
  /** False when a buffer was destroyed, or while launches are recorded or profiled. */
  isUsable(): boolean;
  /**
   * Enqueues everything in order, as one submission where nothing is written in between; or only
   * `count` steps from step `begin` on. Returns the step that comes next, undefined at the end.
   */
  replay(begin?: number, count?: number): number | undefined;
  dispose(): void;
}

export interface KernelTiming {
  readonly primitive: string;
  /** Name of the shader, or of the operator on the host. */
  readonly label: string;
  readonly workgroups: readonly [number, number, number];
  /** Undefined where the adapter has no timestamps. */
  readonly durationMs: number | undefined;
  /** When it began, on the clock of `performance.now()`. Undefined where nobody has asked, or nobody knows. */
  readonly beginMs?: number | undefined;
}

/** A pipeline, or a module of WebAssembly, that was compiled. */
export interface Compilation {
  /** The name of its shader; of a module the step and how many functions it has. */
  readonly label: string;
  /** When it began, on the clock of `performance.now()`. */
  readonly beginMs: number;
  /** When it was there, on the same clock. */
  readonly endMs: number;
}

/** The tensor that a picture is written to, and how. */
export interface PictureTarget {
  readonly tensor: DeviceTensor;
  /** The index of the picture's first element in the tensor; it begins a word. */
  readonly firstElement: number;
  readonly steps: PictureSteps;
}

/** The tensor in float32 that a region of a picture is written to, and how. */
export interface RegionTarget {
  readonly tensor: DeviceTensor;
  readonly steps: RegionSteps;
}

/** Counts since a device was created. */
export interface DeviceCounters {
  /** Buffers that were created. */
  readonly buffersCreated: number;
  /** Buffers that were not destroyed. */
  readonly buffersLive: number;
  /** Bytes of the buffers that were not destroyed. */
  readonly bytesLive: number;
  /** Pipelines that were compiled. */
  readonly pipelinesCreated: number;
  /** Pipelines of loaded programs, and a few of the last ones. */
  readonly pipelinesLive: number;
  /** Bind groups that were made. */
  readonly bindGroupsCreated: number;
  /** Kernels that were launched. */
  readonly launches: number;
  /** Temporary memory that the kernels of all programs share, part of `bytesLive`. */
  readonly scratchBytes?: number;
  /** Submissions to the queue. */
  readonly submits: number;
  /** Reads that waited for the device. */
  readonly readbacks: number;
}
