import type { Device, LaunchRecording, RecordedLaunches } from '../../device/device.ts';

/**
 * The work of one call on its device. It is given up when the call waits for something, calls a
 * function of the user, or prints.
 */
export class RunRecording {
  #launches: LaunchRecording | undefined;

  constructor(devices: readonly Device[]) {
    this.#launches = devices[0]?.recording?.begin();
  }

  get isUnderWay(): boolean {
    return this.#launches !== undefined;
  }

  pause(): void {
    this.#launches?.pause();
  }

  resume(): void {
    this.#launches?.resume();
  }

  abandon(): void {
    this.#launches?.finish()?.dispose();
    this.#launches = undefined;
  }

  /** Undefined when the call cannot be repeated. */
  finish(): RecordedLaunches | undefined {
    const launches = this.#launches?.finish();
    this.#launches = undefined;
    return launches;
  }
}
