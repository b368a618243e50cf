import { type DeviceTensor, Session, Tensor } from '../../src/client/index.ts';
import type { BenchCase } from '../cases/bench-case.ts';
import { COMPARED_STEPS } from './compare.ts';
import { float32, type Progress, type Running, type StartOptions } from './runtime.ts';

/** A runtime that has a case's parameters on its device. */
interface Trainer {
  /** Uploads the batch, makes a step of Adam, and resolves to the loss before it. */
  step(): Promise<number>;
  /**
   * The means of the gradients by each parameter, as Adam has them. It begins with 0: the first step leaves
   * {@link FIRST_SHARE} of a gradient there.
   */
  means?(): Promise<Readonly<Record<string, ArrayLike<number>>>>;
}

const FIRST_SHARE = 0.1;

/** A run of a case of training is a step. All runtimes are in the page's thread. */
export async function startTraining(name: string, open: () => Promise<Trainer>): Promise<Running> {
  attributeMemory(name);
  const trainer = await open();
  const losses: number[] = [];
  let gradients: Progress['gradients'];
  return {
    async run() {
      attributeMemory(name);
      const loss = await trainer.step();
      if (losses.length < COMPARED_STEPS) losses.push(loss);
      if (gradients === undefined && trainer.means) {
        const means = Object.entries(await trainer.means());
        const first = ([key, mean]: (typeof means)[number]) =>
          [key, Float32Array.from(mean, (value) => value / FIRST_SHARE)] as const;
        gradients = Object.fromEntries(means.map(first));
      }
      return [];
    },
    progress: () => ({ losses, gradients }),
    peakBytes: () => peakBytes(name),
  };
}

/** Weft with what `weft grad` writes, in the page's thread, as the peers are. */
export const start = (benchCase: BenchCase, options: StartOptions): Promise<Running> =>
  startTraining('weft', async () => {
    const { executable, inputs, training } = benchCase;
    const { device, session: more } = options;
    const { state: names = [], parameters = [] } = training ?? {};
    const session = await Session.load(executable, { device, worker: false, ...more });
    let state: Record<string, Tensor | DeviceTensor> = await session.run(
      {},
      { function: 'init', keep: 'device' },
    );
    return {
      async step() {
        const batch = inputs.map(({ url, shape }) => new Tensor('float32', float32(url), shape));
        const [x, targets] = batch;
        if (x === undefined || targets === undefined) throw new Error('no batch');
        const given = { ...state, x, targets };
        const { loss, ...next } = await session.run(given, { keep: names, donate: names });
        state = next;
        return loss instanceof Tensor ? Number(loss.data[0]) : Number.NaN;
      },
      async means() {
        const pairs = parameters.map(async (name) => {
          const mean = state[`${name}.mean`];
          const { data } = mean instanceof Tensor ? mean : ((await mean?.read()) ?? {});
          return [name, Array.from(data ?? [], Number)] as const;
        });
        return Object.fromEntries(await Promise.all(pairs));
      },
    };
  });

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
function attributeMemory(name: string): void {
  current = name;
  installOnce();
}

/** The most bytes of GPU buffers that a runtime held at once, and of its linear memories. */
function peakBytes(name: string): number {
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
