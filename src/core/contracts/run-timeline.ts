import type { DeviceRates, LaunchAmount } from './device-rates.ts';
import type { CodePlace } from './paused-call.ts';

export const MOST_TIMELINE_RUNS = 100;

/**
 * Kinds of work that take time in a run: an instruction of the program; an upload, a copy or a
 * readback that the device is asked for; a pipeline that is compiled; a kernel while the device
 * runs it. In a load, also a download and its check.
 */
export type TimelineKind =
  | 'download'
  | 'verify'
  | 'instruction'
  | 'upload'
  | 'copy'
  | 'readback'
  | 'compile'
  | 'kernel';

/** Something that took time in a run. All times are milliseconds since the run began, on one clock. */
export interface TimelineEvent {
  readonly kind: TimelineKind;
  /**
   * Of an instruction what it calls, else its opcode; of a kernel the primitive function; of a pipeline its shader; of a
   * load's phase what is loaded; of other events the name of the device.
   */
  readonly name: string;
  readonly beginMs: number;
  readonly endMs: number;
  readonly at?: CodePlace | undefined;
  /** Bytes of an upload, a copy or a readback. */
  readonly bytes?: number | undefined;
  /**
   * The operations and bytes of an instruction that calls a kernel; undefined where nobody can
   * tell.
   */
  readonly work?: LaunchAmount | undefined;
  readonly isKernelCall?: boolean | undefined;
  /** The name of a kernel's shader, or of its operator on a processor. */
  readonly label?: string | undefined;
}

/** Memory that a run held, apart from constants and from temporary memory of kernels. */
export interface TimelineStorage {
  readonly device: string;
  /** The kernel that wrote it first; else what allocated it; undefined for an input. */
  readonly name: string | undefined;
  readonly at: CodePlace | undefined;
  readonly bytes: number;
  readonly beginMs: number;
  /** When nothing referred to it any more; the end of the run where something did until then. */
  readonly endMs: number;
  /** The places of both in the order of all storages that are allocated and given back, which clocks may not tell apart. */
  readonly order: readonly [allocated: number, givenBack: number];
}

/** The events of a run, and the memory that it held, over time. */
export interface RunTimeline {
  /** From the first upload until the results are in memory of the processor. */
  readonly totalMs: number;
  /** Events in the order of their begins. */
  readonly events: readonly TimelineEvent[];
  /** Storages in the order in which they were allocated. */
  readonly storages: readonly TimelineStorage[];
  readonly instructions: number;
  /** How many of them are no events, since there were too many. */
  readonly instructionsLeftOut: number;
  /** Kernels that were launched without telling when or for how long: the adapter has no timestamps. */
  readonly untimedKernels: number;
}

/** Runs of a session, over time. */
export interface RunTimelines {
  /** The kind of the device that ran them. */
  readonly device: 'host' | 'wasm' | 'webgpu';
  /** The measured rates of the device; undefined for the host. */
  readonly rates: DeviceRates | undefined;
  /** The runs in the order in which they ran. */
  readonly runs: readonly RunTimeline[];
  /**
   * How the session was loaded: download and check of the program, passes of the compiler, weights that were uploaded, and
   * pipelines or modules of WebAssembly that its device compiled meanwhile, of which a device remembers the last 1,000; those of
   * a session that was loaded at the same time are among them. A lent device tells what it did itself: kernels and weights.
   */
  readonly load?: RunTimeline | undefined;
}
