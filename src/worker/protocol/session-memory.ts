/** Device memory of a session, in bytes. */
export interface SessionMemory {
  /** Weights and other constants. */
  readonly constantBytes: number;
  /** Bytes of tensors in use. */
  readonly liveBytes: number;
  /** Bytes that were freed and are kept for the next allocation. */
  readonly pooledBytes: number;
  /** Temporary memory of kernels, which all sessions on a device share. */
  readonly scratchBytes: number;
  /** The most that was ever held: constants, pool and scratch included. */
  readonly peakBytes: number;
  /** Results that are functions and that the page has not disposed of. */
  readonly functions: number;
  /**
   * Counters of a session that shares its device: with a `priority`, `pin`, or `configureWorker`.
   */
  readonly sharing?: SharingCounters | undefined;
}

/** The effects that sharing a device had on a session so far. */
export interface SharingCounters {
  /** True if its weights stay on the device, whatever the budget. */
  readonly isPinned: boolean;
  /** Its share of turns beside other sessions. */
  readonly priority: number;
  /** True while its weights are on the device. */
  readonly isResident: boolean;
  /** Calls that found the weights on the device. */
  readonly hits: number;
  /** Calls whose weights had to come back first. */
  readonly misses: number;
  /** How often weights left the device. */
  readonly evictions: number;
  /** How often weights came back to the device. */
  readonly restores: number;
  /** Bytes of weights that left the device, in all. */
  readonly evictedBytes: number;
  /** Bytes of weights that came back, in all. */
  readonly restoredBytes: number;
  /** How often the session was built again after its device was lost. */
  readonly rebuilds: number;
  /** Calls that began again, after a loss or for want of memory. */
  readonly retries: number;
  /** Time that its calls had the device. */
  readonly deviceMs: number;
  /** Bytes that all sessions hold on the device now. */
  readonly heldBytes: number;
  /** The most bytes that all sessions held on the device at one time. */
  readonly peakHeldBytes: number;
  /** The most bytes that all sessions may hold; Infinity without a budget. */
  readonly budgetBytes: number;
}
