import { DeviceError, DeviceLostError, OutOfMemoryError } from '../../../core/errors.ts';
import { DEFAULT_DEVICE_TIMEOUT_MS, DeviceWatchdog, listKernels } from './device-watchdog.ts';

/** Faults kept to recognise buffers that never got the bytes they should hold. */
const KEPT_FAULTS = 16;

const SCOPES = ['validation', 'out-of-memory', 'internal'] as const;

/** So long may the news of a loss take after what it aborts. */
const LOSS_NOTICE_MS = 1000;

interface Fault {
  readonly error: Error;
  /** Submission whose work went wrong. */
  readonly serial: number;
  /** Submission that was being recorded when somebody was told; infinite before that. */
  reportedAt: number;
}

/**
 * Collects what goes wrong on a GPU device. WebGPU reports most errors later and elsewhere than
 * at the call that caused them; here they wait for whoever asks for results of that work.
 *
 * Submissions have serial numbers. A fault of submission `n` that is reported while submission `m`
 * is recorded makes the results of submissions `n` to `m` worthless, for later readers too.
 */
export class DeviceFaults {
  /** Resolves when the device is lost, or does not answer, without `destroyed` having been called. */
  readonly lost: Promise<DeviceLostError>;
  readonly watchdog: DeviceWatchdog;
  /** The timeout of work that nobody owns. */
  readonly timeoutMs: number;
  /** Serial of the submission that is being recorded, or comes next. */
  serial = 1;
  /** Errors so far. After each, what was made or written before may be invalid. */
  count = 0;

  #isRecording = false;
  /** Serial of the writes whose scopes are open. */
  #writesSerial: number | undefined;

  readonly #device: GPUDevice;
  readonly #faults: Fault[] = [];
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #unsettled = new Set<Promise<unknown>>();
  #end: DeviceLostError | undefined;
  readonly #onError = (event: GPUUncapturedErrorEvent): void => {
    event.preventDefault();
    this.record(fromGpuError(event.error, 'WebGPU'));
  };

  constructor(device: GPUDevice, timeoutMs = DEFAULT_DEVICE_TIMEOUT_MS, mostLaunches?: number) {
    this.#device = device;
    this.timeoutMs = timeoutMs;
    let announce: (error: DeviceLostError) => void = () => undefined;
    this.lost = new Promise((resolve) => {
      announce = resolve;
    });
    const end = (error: DeviceLostError): void => {
      if (this.#end !== undefined) return;
      this.#finish(error);
      announce(error);
    };
    this.watchdog = new DeviceWatchdog({
      timeoutMs,
      mostLaunches,
      finish: () => device.queue.onSubmittedWorkDone(),
      answer: () => {
        device.pushErrorScope('internal');
        return device.popErrorScope();
      },
      onStuck: end,
    });
    void device.lost.then(({ reason, message }) =>
      end(lostError(message === '' ? reason : message, this.watchdog.lost())),
    );
    device.addEventListener('uncapturederror', this.#onError);
  }

  /** Throws when the device is lost or destroyed. */
  throwIfEnded(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  /** Leaves errors that no scope catches to whoever listens. */
  leaveUncaught(): void {
    // Dawn in Node never lets go of a device's listeners, nor of what they refer to.
    this.#device.removeEventListener('uncapturederror', this.#onError);
  }

  /** Makes every pending and later call fail. Call before destroying the GPU device. */
  destroyed(): void {
    if (this.#end !== undefined) return;
    this.#finish(
      new DeviceLostError({
        where: 'WebGPU device',
        got: 'a call after or while the device was destroyed by its owner',
        expected: 'a live device',
        remedy: 'Await pending calls before destroying the device.',
      }),
    );
  }

  record(error: Error): void {
    this.#add(error, this.serial);
  }

  /** Runs `make` in error scopes; what they catch is reported to the next reader, and to `onError`. */
  scoped<T>(where: string, make: () => T, onError?: (made: T) => unknown): T {
    this.#openScopes();
    let made: T | undefined;
    try {
      made = make();
      return made;
    } finally {
      const result = made;
      this.#closeScopes(where, this.serial, () => result !== undefined && onError?.(result));
    }
  }

  /** As {@link DeviceFaults.scoped}, for what fails again, and is reported, when it is used. */
  unreported<T>(make: () => T, onError?: () => unknown): T {
    this.#openScopes();
    try {
      return make();
    } finally {
      for (let i = 0; i < SCOPES.length; i++) {
        this.#device.popErrorScope().then(
          (error) => error && onError?.(),
          () => undefined,
        );
      }
    }
  }

  /** As {@link DeviceFaults.scoped} for a write; those that follow one another share their scopes. */
  scopedWrite(write: () => void): void {
    if (this.#writesSerial !== this.serial) {
      this.#closeWrites();
      this.#writesSerial = this.serial;
      this.#openScopes();
      queueMicrotask(() => this.#closeWrites());
    }
    write();
  }

  #closeWrites(): void {
    const serial = this.#writesSerial;
    this.#writesSerial = undefined;
    if (serial !== undefined) this.#closeScopes('write', serial);
  }

  /** Opens the scopes of a submission, which gets a serial that no write before it has. */
  beginSubmission(): void {
    this.#closeWrites();
    this.serial++;
    this.#isRecording = true;
    this.#openScopes();
  }

  /** Closes the scopes of the submission that is being recorded and returns its serial. */
  endSubmission(): number {
    const { serial } = this;
    this.#closeWrites();
    this.#closeScopes('launch', serial);
    this.serial++;
    this.#isRecording = false;
    return serial;
  }

  #openScopes(): void {
    for (const scope of SCOPES) this.#device.pushErrorScope(scope);
  }

  /** Closes the scopes that were opened last, and attributes their errors to `serial`. */
  #closeScopes(where: string, serial: number, onError?: () => unknown): void {
    for (let i = 0; i < SCOPES.length; i++) {
      const recorded = this.#recordErrors(this.#device.popErrorScope(), where, serial).then(
        (isError) => isError && onError?.(),
      );
      this.#unsettled.add(recorded);
      void recorded.finally(() => this.#unsettled.delete(recorded));
    }
  }

  /** `promise`, or DeviceLostError as soon as the device is lost or destroyed. */
  untilLost<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#end !== undefined) reject(this.#end);
      else this.#waiting.add(reject);
      void this.#forward(promise, resolve, reject);
    });
  }

  /**
   * Resolves when the errors of all work up to submission `serial` are known and there are none
   * that concern it or buffers last written in one of `lastWrites`; else rejects with the first.
   */
  async settle(serial: number, lastWrites: readonly number[] = []): Promise<void> {
    this.#closeWrites();
    await Promise.all(this.#unsettled);
    this.throwIfEnded();
    for (const fault of this.#faults) {
      if (!covers(fault, serial) && !lastWrites.some((write) => covers(fault, write))) continue;
      this.#markReported();
      throw fault.error;
    }
  }

  #markReported(): void {
    for (const fault of this.#faults) {
      if (fault.reportedAt === Infinity) fault.reportedAt = this.serial;
    }
    // Work from here on counts as done by somebody who knows; what is half recorded does not.
    if (!this.#isRecording) this.serial++;
  }

  async #recordErrors(
    popped: Promise<GPUError | null>,
    where: string,
    serial: number,
  ): Promise<boolean> {
    try {
      const gpuError = await popped;
      if (gpuError === null) return false;
      this.#add(fromGpuError(gpuError, where), serial);
      return true;
    } catch {
      // Scopes of a lost device may reject; whoever waits gets the loss itself.
      return false;
    }
  }

  async #forward<T>(
    promise: Promise<T>,
    resolve: (value: T) => void,
    reject: (error: Error) => void,
  ): Promise<void> {
    try {
      const value = await promise;
      if (this.#waiting.delete(reject)) resolve(value);
    } catch (error) {
      // Mapping fails before the loss is announced, in Firefox by several messages between processes.
      const isAborted = error instanceof Error && error.name === 'AbortError';
      await new Promise((wake) => setTimeout(wake, isAborted ? LOSS_NOTICE_MS : 0));
      if (this.#waiting.delete(reject)) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  #add(error: Error, serial: number): void {
    this.count++;
    const last = this.#faults.at(-1);
    // Errors that follow a fault before it is known are consequences of it.
    if (last?.reportedAt === Infinity && last.serial <= serial) return;
    this.#faults.push({ error, serial, reportedAt: Infinity });
    if (this.#faults.length > KEPT_FAULTS) this.#faults.shift();
  }

  #finish(error: DeviceLostError): void {
    this.#end = error;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
    this.leaveUncaught();
  }
}

function covers(fault: Fault, serial: number): boolean {
  return fault.serial <= serial && serial <= fault.reportedAt;
}

function lostError(message: string, kernels: readonly string[]): DeviceLostError {
  const work = kernels.length === 0 ? '' : `, at work on the kernels ${listKernels(kernels)}`;
  return new DeviceLostError(
    {
      where: 'WebGPU device',
      got: `a lost device (${message})${work}`,
      expected: 'a live one',
      remedy: 'Load the session again; its buffers are gone.',
    },
    { details: { kernels } },
  );
}

function fromGpuError(error: GPUError, where: string): Error {
  // The classes are not global in Node, so their names have to do.
  const message = error.message.trim();
  if (error.constructor.name === 'GPUOutOfMemoryError') {
    return new OutOfMemoryError({
      where,
      got: `no memory from the GPU (${firstLine(message)})`,
      expected: 'room for the allocation',
      remedy: 'Use smaller inputs, or dispose of unused sessions and tensors.',
    });
  }
  return new DeviceError(`${where}: the GPU refused: ${message}`);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
