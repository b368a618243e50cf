/** A device that is not used any more, but has work. */
interface Unfinished {
  /** True if it was given up because it did not answer. */
  readonly isStuck: boolean;
}

/**
 * Devices that must not be destroyed yet, nor collected: Dawn waits for their work then, which blocks the
 * thread in Node, and in a browser the GPU process with all its pages.
 */
export const unfinishedDevices = new Map<GPUDevice, Unfinished>();

/** Returns true if a kernel does not end, so that new devices may not work either. */
export function isAnyDeviceStuck(): boolean {
  return [...unfinishedDevices.values()].some(({ isStuck }) => isStuck);
}
