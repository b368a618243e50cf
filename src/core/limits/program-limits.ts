/** Limits of a program; see docs/untrusted-programs.md. */
export interface ProgramLimits {
  /** `refuse`: a program that brings WGSL of its own is not loaded. Default `allow`. */
  readonly programKernels?: 'allow' | 'refuse';
  /** Workgroups of one launch of such WGSL at most, the product of its grid. Default: no bound. */
  readonly workgroupLimit?: number;
  /** Bytecode instructions of one run at most. Default: no bound. */
  readonly instructionLimit?: number;
  /** Milliseconds from the begin of a run to its results at most. Default: no bound. */
  readonly runTimeout?: number;
  /** Bytes of device memory at most. Default: what the device gives. */
  readonly byteBudget?: number;
  /**
   * Milliseconds that the device may finish nothing while it works on this program; then it counts as
   * lost. Also how long a load waits for a device. Default 30,000.
   */
  readonly deviceTimeout?: number;
}

/** Limits of the machine that runs a program; see docs/untrusted-programs.md. */
export interface MachineLimits {
  /** Frames that all calls in flight may have together. Default 100,000. */
  readonly callDepth?: number;
  /** Registers of all these frames. Default 2^24. */
  readonly registers?: number;
  /** Fields of tuples, data and closures, and slots of shape heaps, held at one time. Default 2^23. */
  readonly fields?: number;
  /** Milliseconds that a run may hold the thread before others get their turn. Default 8. */
  readonly sliceMs?: number;
}

/** The limits of a machine that is given none. */
export const DEFAULT_MACHINE_LIMITS: Required<MachineLimits> = {
  callDepth: 100_000,
  registers: 1 << 24,
  fields: 1 << 23,
  sliceMs: 8,
};
