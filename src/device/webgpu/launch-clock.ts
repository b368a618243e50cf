import { CLOCK, type Clock } from '../../core/async/clock.ts';
import { shadowMethod } from '../../core/shadow-method.ts';
import type { Compilation } from '../device.ts';

/** A submit, when it was made, and the launches that were recorded by then. */
interface TimedSubmit {
  readonly atMs: number;
  readonly launchCount: number;
}

export interface LaunchClockOptions {
  readonly onCompilation: (compilation: Compilation) => void;
  readonly clock?: Clock;
}

/**
 * Puts launches on the clock of `performance.now()`. A GPU has a clock of its own, of which no page knows when it began. No launch
 * begins before it was submitted: of all differences between the two clocks the smallest is taken with which that holds, so
 * launches stand too early by as long as the fastest of them had to wait.
 */
export class LaunchClock {
  readonly #submits: TimedSubmit[] = [];
  readonly #stops: readonly (() => void)[];

  /** Notes down submits, and tells of pipelines that are compiled, until {@link LaunchClock.stop}. */
  constructor(
    device: GPUDevice,
    launches: { readonly launchCount: number },
    { onCompilation, clock = CLOCK }: LaunchClockOptions,
  ) {
    const told = ({ label = '' }: GPUComputePipelineDescriptor, beginMs: number): void =>
      onCompilation({ label, beginMs, endMs: clock.now() });
    this.#stops = [
      shadowMethod(device, 'createCommandEncoder', (create) => (descriptor) => {
        const encoder = create(descriptor);
        // The last that is done before a submit, during which a GPU may begin.
        shadowMethod(encoder, 'finish', (finish) => (end) => {
          this.#submits.push({ atMs: clock.now(), launchCount: launches.launchCount });
          return finish(end);
        });
        return encoder;
      }),
      shadowMethod(device, 'createComputePipelineAsync', (create) => (descriptor) => {
        const beginMs = clock.now();
        return create(descriptor).finally(() => told(descriptor, beginMs));
      }),
      shadowMethod(device, 'createComputePipeline', (create) => (descriptor) => {
        const beginMs = clock.now();
        const pipeline = create(descriptor);
        told(descriptor, beginMs);
        return pipeline;
      }),
    ];
  }

  /**
   * Begins on this clock from those on the GPU's, in the order of the launches, of which `first` is the first since this began;
   * undefined for NaN.
   */
  begins(onGpu: readonly number[], first: number): readonly (number | undefined)[] {
    let offset = Number.NEGATIVE_INFINITY;
    let submit = 0;
    for (const [launch, begin] of onGpu.entries()) {
      if (launch < first) continue;
      while ((this.#submits[submit]?.launchCount ?? Infinity) <= launch) submit++;
      const { atMs } = this.#submits[submit] ?? {};
      if (atMs !== undefined && !Number.isNaN(begin)) offset = Math.max(offset, atMs - begin);
    }
    const isKnown = Number.isFinite(offset);
    return onGpu.map((begin) => (isKnown && !Number.isNaN(begin) ? begin + offset : undefined));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
