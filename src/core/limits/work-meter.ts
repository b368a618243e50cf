/** Told of the work that is done, and of the memory that is taken; either call may throw. */
export interface WorkMeter {
  /** So many steps of loops were done, or are about to be. */
  count(steps: number): void;
  /** Memory for the elements of a host tensor is about to be taken. */
  reserve(byteLength: number): void;
}

/** Loops deep in the compiler count for whoever called it; the calls are synchronous, and nest. */
let inForce: WorkMeter | undefined;

/** Steps of a loop whose length a file decides. Only the meter in force counts them. */
export function countWork(steps = 1): void {
  inForce?.count(steps);
}

/** Memory for the elements of a host tensor is about to be taken. */
export function reserveTensorMemory(byteLength: number): void {
  inForce?.reserve(byteLength);
}

/** Runs `work`, which does not wait, with a meter in force. */
export function withMeter<T>(meter: WorkMeter, work: () => T): T {
  const former = inForce;
  inForce = meter;
  try {
    return work();
  } finally {
    inForce = former;
  }
}

export function meterInForce(): WorkMeter | undefined {
  return inForce;
}
