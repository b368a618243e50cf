import type { Launch } from '../../../core/contracts/launch-plan.ts';
import { COMPUTE_STAGE } from '../memory/buffer-usage.ts';
import type { CompilationLog } from '../../device-events.ts';
import type { LaunchOwner } from '../../device.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';
import { CLOCK, type Clock } from '../../../core/async/clock.ts';
import { DeviceError } from '../../../core/errors.ts';

const LOOKS = 10;
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

interface Waiting {
  readonly label: string;
  readonly timeoutMs: number;
  readonly reject: (error: DeviceError) => void;
  silentMs: number;
}

/**
 * Gives up code that a driver or an engine does not finish to compile. The time of one counts from the last one that
 * came, since many wait for the same compiler; time in which this thread was blocked or asleep does not count.
 */
export class CompileWatch {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #lookedAt = 0;
  #isLooking = false;

  constructor(clock: Clock = CLOCK) {
    this.#clock = clock;
  }

  /** `compiling`; rejects with a DeviceError that names the kernel when it does not come in time. */
  async within<T>(
    compiling: Promise<T>,
    { label, timeoutMs }: { readonly label: string; readonly timeoutMs: number },
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { label, timeoutMs, reject, silentMs: 0 };
      const came = (): void => {
        this.#waiting.delete(waiting);
        for (const other of this.#waiting) other.silentMs = 0;
      };
      compiling.then(resolve, reject).finally(came);
      this.#waiting.add(waiting);
      if (!this.#isLooking) this.#look();
    });
  }

  #look(): void {
    this.#isLooking = this.#waiting.size > 0;
    if (!this.#isLooking) return;
    const least = Math.min(...Array.from(this.#waiting, ({ timeoutMs }) => timeoutMs));
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, least / LOOKS));
    this.#lookedAt = this.#clock.now();
    this.#clock.after(pauseMs, () => {
      const passedMs = Math.min(this.#clock.now() - this.#lookedAt, 2 * pauseMs);
      for (const waiting of this.#waiting) {
        waiting.silentMs += passedMs;
        if (waiting.silentMs < waiting.timeoutMs) continue;
        this.#waiting.delete(waiting);
        waiting.reject(lateError(waiting));
      }
      this.#look();
    });
  }
}

function lateError({ label, timeoutMs }: Waiting): DeviceError {
  return new DeviceError(
    {
      where: `kernel ${label}`,
      got: `no compiled code in ${timeoutMs} ms`,
      expected: 'it to be compiled by then',
      remedy: 'Load the program on another device, or with a larger deviceTimeout.',
    },
    { details: { kernels: [label], timeoutMs } },
  );
}

/** So many pipelines that no kernel uses are kept for the next load. */
export const MAX_IDLE_PIPELINES = 128;

/** The bindings of a shader; equal ones share one layout, whatever the code. */
export interface BindingLayout {
  readonly id: number;
  readonly groupLayout: GPUBindGroupLayout;
  readonly pipelineLayout: GPUPipelineLayout;
}

export interface CachedPipeline {
  readonly layout: BindingLayout;
  readonly pipeline: GPUComputePipeline;
  /** The key of the pipeline: its bindings and its code. */
  readonly key: string;
  /** How many kernels launch it. */
  userCount: number;
}

type ShaderSource = Pick<Launch, 'label' | 'code' | 'bindings' | 'params'>;

/**
 * Compiles each text once per device for the kernels that are loaded. A pipeline takes megabytes, so
 * of those that no kernel needs any more only the last few are kept.
 */
export class PipelineCache {
  created = 0;
  readonly log: CompilationLog;

  readonly #device: GPUDevice;
  readonly #faults: DeviceFaults;
  readonly #layouts = new Map<string, BindingLayout>();
  #layoutCount = 0;
  readonly #ready = new Map<string, CachedPipeline>();
  /** Those of them that nobody uses, the one that was used last at the end. */
  readonly #idle = new Set<CachedPipeline>();
  readonly #compiling = new Map<string, Promise<CachedPipeline>>();
  readonly #watch = new CompileWatch();

  constructor(device: GPUDevice, faults: DeviceFaults, log: CompilationLog) {
    this.#device = device;
    this.#faults = faults;
    this.log = log;
  }

  /** Pipelines that exist, in use or not. */
  get live(): number {
    return this.#ready.size;
  }

  /**
   * Compiles without blocking. Rejects with DeviceError that quotes the line at fault, or names the kernel that does
   * not come within the `deviceTimeout` of the owner.
   */
  compile(source: ShaderSource, owner?: LaunchOwner): Promise<CachedPipeline> {
    const key = cacheKey(source);
    const ready = this.#ready.get(key);
    if (ready !== undefined) return Promise.resolve(ready);
    let compiling = this.#compiling.get(key);
    if (compiling === undefined) {
      compiling = this.#compile(source, key).finally(() => this.#compiling.delete(key));
      this.#compiling.set(key, compiling);
    }
    const { timeoutMs } = this.#faults;
    const { label } = source;
    return this.#watch.within(compiling, { label, timeoutMs: owner?.deviceTimeout ?? timeoutMs });
  }

  /** Compiles at once, for a shape that nothing was prepared for. Errors reach the next reader. */
  compileNow(source: ShaderSource): CachedPipeline {
    const key = cacheKey(source);
    const ready = this.#ready.get(key);
    if (ready !== undefined) return ready;
    const beginMs = performance.now();
    const layout = this.#layout(bindingSignature(source));
    const pipeline = this.#faults.scoped(
      `shader ${source.label}`,
      () => this.#device.createComputePipeline(this.#descriptor(source, layout)),
      () => this.#ready.delete(key),
    );
    this.log.add(source.label, beginMs);
    return this.#add({ layout, pipeline, key, userCount: 0 });
  }

  retain(pipeline: CachedPipeline): void {
    pipeline.userCount++;
    this.#idle.delete(pipeline);
    // It may have had to go while the rest of its program was compiled.
    if (!this.#ready.has(pipeline.key)) this.#ready.set(pipeline.key, pipeline);
  }

  release(pipeline: CachedPipeline): void {
    pipeline.userCount--;
    if (pipeline.userCount === 0 && this.#ready.get(pipeline.key) === pipeline) {
      this.#rest(pipeline);
    }
  }

  async #compile(source: ShaderSource, key: string): Promise<CachedPipeline> {
    const beginMs = performance.now();
    const layout = this.#layout(bindingSignature(source));
    const descriptor = this.#descriptor(source, layout);
    try {
      const { watchdog } = this.#faults;
      const pipeline = await this.#faults.untilLost(
        watchdog.answers(this.#device.createComputePipelineAsync(descriptor)),
      );
      this.log.add(source.label, beginMs);
      return this.#add({ layout, pipeline, key, userCount: 0 });
    } catch (cause) {
      this.#faults.throwIfEnded();
      const { compilationError } = await import('./compilation-error.ts');
      throw await compilationError(source, descriptor.compute.module, cause);
    }
  }

  #add(pipeline: CachedPipeline): CachedPipeline {
    const first = this.#ready.get(pipeline.key);
    if (first !== undefined) return first;
    this.created++;
    this.#ready.set(pipeline.key, pipeline);
    this.#rest(pipeline);
    return pipeline;
  }

  /** Nobody uses it now; the one that has been so for the longest goes. */
  #rest(pipeline: CachedPipeline): void {
    this.#idle.add(pipeline);
    const [oldest] = this.#idle;
    if (oldest === undefined || this.#idle.size <= MAX_IDLE_PIPELINES) return;
    this.#idle.delete(oldest);
    this.#ready.delete(oldest.key);
  }

  #descriptor({ label, code }: ShaderSource, layout: BindingLayout): GPUComputePipelineDescriptor {
    this.#faults.throwIfEnded();
    // The pipeline reports an error in the text.
    const module = this.#faults.unreported(() => this.#device.createShaderModule({ label, code }));
    return { label, layout: layout.pipelineLayout, compute: { module, entryPoint: 'main' } };
  }

  #layout(signature: string): BindingLayout {
    const known = this.#layouts.get(signature);
    if (known !== undefined) return known;
    const make = (): BindingLayout => {
      const groupLayout = this.#device.createBindGroupLayout({
        label: signature,
        entries: layoutEntries(signature),
      });
      const pipelineLayout = this.#device.createPipelineLayout({
        label: signature,
        bindGroupLayouts: [groupLayout],
      });
      return { id: ++this.#layoutCount, groupLayout, pipelineLayout };
    };
    const forget = (): unknown => this.#layouts.delete(signature);
    const layout = this.#faults.unreported(make, forget);
    this.#layouts.set(signature, layout);
    return layout;
  }
}

function cacheKey(source: ShaderSource): string {
  return `${bindingSignature(source)}\n${source.code}`;
}

/** One letter per binding: p for parameters, then r or w. */
function bindingSignature({ bindings, params }: ShaderSource): string {
  const letters = bindings.map(({ access }) => (access === 'read' ? 'r' : 'w'));
  return `${params.length > 0 ? 'p' : '-'}${letters.join('')}`;
}

function layoutEntries(signature: string): GPUBindGroupLayoutEntry[] {
  const entries: GPUBindGroupLayoutEntry[] = [];
  for (let binding = 0; binding < signature.length; binding++) {
    const letter = signature[binding];
    if (letter === '-') continue;
    const buffer: GPUBufferBindingLayout =
      letter === 'p'
        ? { type: 'uniform', hasDynamicOffset: true }
        : { type: letter === 'r' ? 'read-only-storage' : 'storage' };
    entries.push({ binding, visibility: COMPUTE_STAGE, buffer });
  }
  return entries;
}
