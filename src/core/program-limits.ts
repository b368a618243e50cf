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
