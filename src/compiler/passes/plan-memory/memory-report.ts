/** The plan of `plan-memory` for the values that one function computes with kernels. */
export interface FunctionMemoryPlan {
  /** The global function; one that was a closure is named after that around it. */
  readonly name: string;
  /** The most bytes of storages that are held at once, results of the function included. */
  readonly plannedPeakBytes: number;
  /** The most bytes of values that are alive at once: no plan for this order needs less. */
  readonly largestLiveSetBytes: number;
  /** Storages and the tensors that are put into them. */
  readonly storages: number;
  /** Tensors that are put into storages. */
  readonly tensors: number;
  readonly storageBytes: number;
  /** Tensors whose bytes only the running program knows, which the sums leave out. */
  readonly unsizedTensors: number;
}

/** The plans of all functions of a module, in order. */
export interface MemoryPlanReport {
  /** Plans of the functions, in order. */
  readonly functions: readonly FunctionMemoryPlan[];
}
