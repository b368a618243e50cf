/** Bytes that a runtime holds on its device, and the most that it held. */
interface Held {
  now: number;
  peak: number;
  /** Memories of WebAssembly, which never shrink. */
  readonly memories: Set<WebAssembly.Memory>;
}

const byName = new Map<string, Held>();
let current = '';

function heldBy(name: string): Held {
  const known = byName.get(name);
  if (known !== undefined) return known;
  const held = { now: 0, peak: 0, memories: new Set<WebAssembly.Memory>() };
  byName.set(name, held);
  return held;
}

/** Counts devices and memories that are opened from now on for this runtime. */
export function attributeMemory(name: string): void {
  current = name;
  installOnce();
}

/** The most bytes of GPU buffers that a runtime held at once, and of its linear memories. */
export function peakBytes(name: string): number {
  const { peak, memories } = heldBy(name);
  return [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, peak);
}

let isInstalled = false;

function installOnce(): void {
  if (isInstalled) return;
  isInstalled = true;
  countBuffers();
  countMemories();
}

function countBuffers(): void {
  if (!('gpu' in navigator)) return;
  const { gpu } = navigator;
  const requestAdapter = gpu.requestAdapter.bind(gpu);
  gpu.requestAdapter = async (options) => {
    const adapter = await requestAdapter(options);
    if (adapter === null) return adapter;
    const held = heldBy(current);
    const requestDevice = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = async (descriptor) =>
      countedDevice(await requestDevice(descriptor), held);
    return adapter;
  };
}

function countedDevice(device: GPUDevice, held: Held): GPUDevice {
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    const destroy = buffer.destroy.bind(buffer);
    let left = descriptor.size;
    held.now += left;
    held.peak = Math.max(held.peak, held.now);
    buffer.destroy = () => {
      held.now -= left;
      left = 0;
      return destroy();
    };
    return buffer;
  };
  return device;
}

/** Memories that JavaScript makes, and those that modules export. */
function countMemories(): void {
  WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
    construct(target, args: [WebAssembly.MemoryDescriptor]) {
      const memory = new target(...args);
      heldBy(current).memories.add(memory);
      return memory;
    },
  });
  const take = (instance: WebAssembly.Instance, name: string): void => {
    for (const value of Object.values(instance.exports)) {
      if (value instanceof WebAssembly.Memory) heldBy(name).memories.add(value);
    }
  };
  const { instantiate, instantiateStreaming } = WebAssembly;
  const counted =
    (work: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]): Promise<unknown> => {
      const name = current;
      const result = await work(...args);
      if (result instanceof WebAssembly.Instance) take(result, name);
      else take((result as WebAssembly.WebAssemblyInstantiatedSource).instance, name);
      return result;
    };
  Object.assign(WebAssembly, {
    instantiate: counted(instantiate as never),
    instantiateStreaming: counted(instantiateStreaming as never),
  });
}
