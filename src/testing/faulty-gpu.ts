/** Functions that a browser can refuse, by name. */
export const GPU_OPERATIONS = [
  'requestAdapter',
  'requestDevice',
  'createBuffer',
  'writeBuffer',
  'createShaderModule',
  'createBindGroupLayout',
  'createPipelineLayout',
  'createComputePipelineAsync',
  'createBindGroup',
  'submit',
  'mapAsync',
  'getMappedRange',
  'onSubmittedWorkDone',
] as const;

export type GpuOperation = (typeof GPU_OPERATIONS)[number];

/** The `at`-th call of an operation, from 1, goes wrong: it is refused, or the device is lost before it. */
export interface Injection {
  readonly operation: GpuOperation;
  readonly at: number;
  readonly mode: 'refuse' | 'lose';
}

type Filter = GPUErrorFilter;

/** By name, as an error scope gives it: the classes of WebGPU have no constructors everywhere. */
class GPUOutOfMemoryError {
  readonly message = 'an injected fault: no memory';
}
class GPUInternalError {
  readonly message = 'an injected fault: the driver gave up';
}

interface Scope {
  readonly filter: Filter;
  error: GPUError | undefined;
}

/**
 * WebGPU, real below, whose operations fail as a browser has them fail: a buffer that finds no memory is
 * there and invalid, and an error scope tells; work that a driver refuses is not done; maps and pipelines
 * reject. Live buffers are counted.
 */
export class FaultyGpu {
  readonly gpu: GPU;
  readonly #devices = new Set<FaultyDevice>();
  readonly #counts = new Map<GpuOperation, number>();
  #injection: Injection | undefined;

  constructor(real: GPU) {
    const requestAdapter: GPU['requestAdapter'] = async (options) => {
      if (this.count('requestAdapter') !== undefined) return null;
      const adapter = await real.requestAdapter(options);
      return adapter && this.#wrapAdapter(adapter);
    };
    const faulty: Pick<GPU, 'requestAdapter'> = { requestAdapter };
    this.gpu = faulty as GPU;
  }

  /** From now on operations are counted, and one of them goes wrong. */
  arm(injection: Injection): void {
    this.#counts.clear();
    this.#injection = injection;
  }

  /** Nothing goes wrong any more. */
  disarm(): void {
    this.#injection = undefined;
  }

  /** True once the operation came that was to go wrong. */
  get hasStruck(): boolean {
    const { operation, at } = this.#injection ?? { operation: 'submit', at: Infinity };
    return (this.#counts.get(operation) ?? 0) >= at;
  }

  /** Of devices that were not destroyed. */
  live(): { readonly buffers: number; readonly bytes: number; readonly devices: number } {
    const sizes = [...this.#devices].flatMap(({ live }) => [...live.values()]);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return { buffers: sizes.length, bytes, devices: this.#devices.size };
  }

  /** Notes a call; how it goes wrong, if it does. */
  count(operation: GpuOperation): Injection['mode'] | undefined {
    const calls = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, calls);
    const injection = this.#injection;
    const isMeant = injection?.operation === operation && injection.at === calls;
    return isMeant ? injection.mode : undefined;
  }

  #wrapAdapter(adapter: GPUAdapter): GPUAdapter {
    const requestDevice = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = async (descriptor) => {
      if (this.count('requestDevice') !== undefined) throw refused('requestDevice');
      const device = await requestDevice(descriptor);
      this.#devices.add(new FaultyDevice(this, device, (gone) => this.#devices.delete(gone)));
      return device;
    };
    return adapter;
  }
}

/** Functions of a real device in place of its own. */
class FaultyDevice {
  /** Buffers that were not destroyed, with their bytes. */
  readonly live = new Map<GPUBuffer, number>();
  readonly #faults: FaultyGpu;
  readonly #device: GPUDevice;
  readonly #destroy: () => undefined;
  readonly #scopes: Scope[] = [];

  constructor(faults: FaultyGpu, device: GPUDevice, onDestroy: (device: FaultyDevice) => void) {
    this.#faults = faults;
    this.#device = device;
    const destroy = device.destroy.bind(device);
    this.#destroy = () => {
      onDestroy(this);
      return destroy();
    };
    device.destroy = this.#destroy;
    this.#wrapScopes();
    this.#wrapBuffers();
    this.#wrapPipelines();
    this.#wrapQueue(device.queue);
  }

  /** True when the call is to be refused; before it the device may be lost instead. */
  #isRefused(operation: GpuOperation): boolean {
    const mode = this.#faults.count(operation);
    if (mode === 'lose') this.#destroy();
    return mode === 'refuse';
  }

  #wrapScopes(): void {
    const device = this.#device;
    const push = device.pushErrorScope.bind(device);
    const pop = device.popErrorScope.bind(device);
    device.pushErrorScope = (filter) => {
      this.#scopes.push({ filter, error: undefined });
      push(filter);
    };
    device.popErrorScope = async () => {
      const injected = this.#scopes.pop()?.error;
      const real = await pop();
      return injected ?? real;
    };
  }

  /** Tells the innermost scope of a kind, as a browser does. */
  #report(filter: Filter): void {
    const scope = this.#scopes.findLast((open) => open.filter === filter);
    const error = filter === 'out-of-memory' ? new GPUOutOfMemoryError() : new GPUInternalError();
    if (scope !== undefined) scope.error ??= error as GPUError;
    else this.#device.dispatchEvent(Object.assign(new Event('uncapturederror'), { error }));
  }

  /** An object that is there and invalid; the complaint of the real device about it is swallowed. */
  #invalid<T>(make: () => T): T {
    const device = this.#device;
    device.pushErrorScope('validation');
    try {
      return make();
    } finally {
      device.popErrorScope().catch(() => undefined);
    }
  }

  #wrapBuffers(): void {
    const device = this.#device;
    const createBuffer = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      const isRefused = this.#isRefused('createBuffer');
      const buffer = isRefused
        ? this.#invalid(() => createBuffer({ ...descriptor, usage: 0 }))
        : createBuffer(descriptor);
      if (isRefused) this.#report('out-of-memory');
      this.live.set(buffer, descriptor.size);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        this.live.delete(buffer);
        return destroy();
      };
      this.#wrapMapping(buffer);
      return buffer;
    };
    const createBindGroup = device.createBindGroup.bind(device);
    device.createBindGroup = (descriptor) => {
      if (!this.#isRefused('createBindGroup')) return createBindGroup(descriptor);
      this.#report('out-of-memory');
      return this.#invalid(() => createBindGroup({ ...descriptor, entries: [] }));
    };
  }

  #wrapMapping(buffer: GPUBuffer): void {
    const mapAsync = buffer.mapAsync.bind(buffer);
    buffer.mapAsync = async (...args) => {
      if (this.#isRefused('mapAsync')) throw refused('mapAsync');
      await mapAsync(...args);
    };
    const getMappedRange = buffer.getMappedRange.bind(buffer);
    buffer.getMappedRange = (...args) => {
      // As Chromium does where the array cannot be made.
      if (this.#isRefused('getMappedRange')) throw new RangeError('an injected fault: no array');
      return getMappedRange(...args);
    };
  }

  #wrapPipelines(): void {
    const device = this.#device;
    const createShaderModule = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) => {
      if (!this.#isRefused('createShaderModule')) return createShaderModule(descriptor);
      this.#report('internal');
      return this.#invalid(() => createShaderModule({ ...descriptor, code: 'fault' }));
    };
    const createLayout = device.createBindGroupLayout.bind(device);
    device.createBindGroupLayout = (descriptor) => {
      if (!this.#isRefused('createBindGroupLayout')) return createLayout(descriptor);
      this.#report('out-of-memory');
      const entry = { binding: 1e6, visibility: 0 };
      return this.#invalid(() => createLayout({ ...descriptor, entries: [entry] }));
    };
    const createPipelineLayout = device.createPipelineLayout.bind(device);
    device.createPipelineLayout = (descriptor) => {
      if (!this.#isRefused('createPipelineLayout')) return createPipelineLayout(descriptor);
      this.#report('out-of-memory');
      const [group] = descriptor.bindGroupLayouts;
      const many = Array.from({ length: 64 }, () => group ?? null);
      return this.#invalid(() => createPipelineLayout({ ...descriptor, bindGroupLayouts: many }));
    };
    const create = device.createComputePipelineAsync.bind(device);
    device.createComputePipelineAsync = async (descriptor) => {
      if (this.#isRefused('createComputePipelineAsync'))
        throw refused('createComputePipelineAsync');
      return create(descriptor);
    };
  }

  #wrapQueue(queue: GPUQueue): void {
    const submit = queue.submit.bind(queue);
    queue.submit = (commands) => {
      const list = [...commands];
      // Empty ones only wake a browser up, and come by the clock.
      if (list.length > 0 && this.#isRefused('submit')) this.#report('internal');
      else submit(list);
    };
    const writeBuffer = queue.writeBuffer.bind(queue);
    queue.writeBuffer = (...args: Parameters<typeof writeBuffer>) => {
      if (this.#isRefused('writeBuffer')) this.#report('out-of-memory');
      else writeBuffer(...args);
    };
    const done = queue.onSubmittedWorkDone.bind(queue);
    queue.onSubmittedWorkDone = async () => {
      if (this.#isRefused('onSubmittedWorkDone')) throw refused('onSubmittedWorkDone');
      return done();
    };
    Object.defineProperty(this.#device, 'queue', { value: queue });
  }
}

function refused(operation: GpuOperation): DOMException {
  return new DOMException(`an injected fault: ${operation}`, 'OperationError');
}
