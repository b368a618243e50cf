import type { Launch } from '../../../core/contracts/launch-plan.ts';
import { COMPUTE_STAGE } from '../memory/buffer-usage.ts';
import type { CompilationLog } from '../../device-events.ts';
import type { LaunchOwner } from '../../device.ts';
import { CompileWatch } from './compile-watch.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';

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
