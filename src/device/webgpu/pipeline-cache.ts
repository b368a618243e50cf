import { DeviceError } from '../../core/errors.ts';
import type { Launch } from '../../core/launch-plan.ts';
import { COMPUTE_STAGE } from './buffer-usage.ts';
import type { DeviceFaults } from './device-faults.ts';

/** Pipelines that no kernel uses are kept up to this many in all, for the next load. */
const KEPT_PIPELINES = 1024;

/** The bindings of a shader; equal ones share one layout, whatever the code. */
export interface BindingLayout {
  readonly id: number;
  readonly groupLayout: GPUBindGroupLayout;
  readonly pipelineLayout: GPUPipelineLayout;
}

export interface CachedPipeline {
  readonly layout: BindingLayout;
  readonly pipeline: GPUComputePipeline;
  /** Kernels that launch it. */
  userCount: number;
}

type ShaderSource = Pick<Launch, 'label' | 'code' | 'bindings' | 'params'>;

/** Compiles each text once per device. */
export class PipelineCache {
  created = 0;

  readonly #device: GPUDevice;
  readonly #faults: DeviceFaults;
  readonly #layouts = new Map<string, BindingLayout>();
  /** By bindings and code, in order of completion. */
  readonly #ready = new Map<string, CachedPipeline>();
  readonly #compiling = new Map<string, Promise<CachedPipeline>>();

  constructor(device: GPUDevice, faults: DeviceFaults) {
    this.#device = device;
    this.#faults = faults;
  }

  /** Compiles without blocking. Rejects with DeviceError that quotes the line at fault. */
  compile(source: ShaderSource): Promise<CachedPipeline> {
    const key = cacheKey(source);
    const ready = this.#ready.get(key);
    if (ready !== undefined) return Promise.resolve(ready);
    const known = this.#compiling.get(key);
    if (known !== undefined) return known;
    const compiling = this.#compile(source, key).finally(() => this.#compiling.delete(key));
    this.#compiling.set(key, compiling);
    return compiling;
  }

  /** Compiles at once, for a shape that preparing did not foresee. Errors reach the next reader. */
  compileNow(source: ShaderSource): CachedPipeline {
    const key = cacheKey(source);
    const ready = this.#ready.get(key);
    if (ready !== undefined) return ready;
    const layout = this.#layout(bindingSignature(source));
    const pipeline = this.#faults.scoped(`shader ${source.label}`, () =>
      this.#device.createComputePipeline(this.#descriptor(source, layout)),
    );
    return this.#add(key, { layout, pipeline, userCount: 0 });
  }

  retain(pipeline: CachedPipeline): void {
    pipeline.userCount++;
  }

  release(pipeline: CachedPipeline): void {
    pipeline.userCount--;
    if (this.#ready.size > KEPT_PIPELINES) this.#trim();
  }

  async #compile(source: ShaderSource, key: string): Promise<CachedPipeline> {
    const layout = this.#layout(bindingSignature(source));
    const descriptor = this.#descriptor(source, layout);
    try {
      const pipeline = await this.#faults.untilLost(
        this.#device.createComputePipelineAsync(descriptor),
      );
      return this.#add(key, { layout, pipeline, userCount: 0 });
    } catch (cause) {
      this.#faults.throwIfEnded();
      throw await compilationError(source, descriptor.compute.module, cause);
    }
  }

  #add(key: string, pipeline: CachedPipeline): CachedPipeline {
    const first = this.#ready.get(key);
    if (first !== undefined) return first;
    this.created++;
    this.#ready.set(key, pipeline);
    return pipeline;
  }

  #descriptor({ label, code }: ShaderSource, layout: BindingLayout): GPUComputePipelineDescriptor {
    this.#faults.throwIfEnded();
    // An error in the text is reported by the pipeline; its own scope keeps it from being told twice.
    this.#device.pushErrorScope('validation');
    const module = this.#device.createShaderModule({ label, code });
    this.#device.popErrorScope().catch(() => undefined);
    return { label, layout: layout.pipelineLayout, compute: { module, entryPoint: 'main' } };
  }

  #layout(signature: string): BindingLayout {
    const known = this.#layouts.get(signature);
    if (known !== undefined) return known;
    const layout = this.#faults.scoped(`bindings ${signature}`, () => {
      const groupLayout = this.#device.createBindGroupLayout({
        label: signature,
        entries: layoutEntries(signature),
      });
      const pipelineLayout = this.#device.createPipelineLayout({
        label: signature,
        bindGroupLayouts: [groupLayout],
      });
      return { id: this.#layouts.size + 1, groupLayout, pipelineLayout };
    });
    this.#layouts.set(signature, layout);
    return layout;
  }

  #trim(): void {
    for (const [key, { userCount }] of this.#ready) {
      if (this.#ready.size <= KEPT_PIPELINES) return;
      if (userCount === 0) this.#ready.delete(key);
    }
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

async function compilationError(
  { label, code }: ShaderSource,
  module: GPUShaderModule,
  cause: unknown,
): Promise<DeviceError> {
  const { messages } = await module.getCompilationInfo();
  const lines = code.split('\n');
  const complaints = messages
    .filter(({ type }) => type === 'error')
    .map(({ lineNum, linePos, message }) => {
      const line = lines[lineNum - 1];
      return `line ${lineNum}:${linePos}: ${message}${line === undefined ? '' : `\n  ${line.trim()}`}`;
    });
  const reason = cause instanceof Error ? cause.message : String(cause);
  const text = complaints.length > 0 ? complaints.join('\n') : reason.trim();
  return new DeviceError(`shader ${label} does not compile: ${text}`, { cause });
}
