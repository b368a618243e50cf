import type { Device, KernelTiming } from '../../../../src/device/device.ts';
import { VirtualMachine } from '../../../../src/runtime/virtual-machine.ts';
import { nodeGpu } from '../../../../src/testing/node-gpu.ts';
import type { TextLoadOptions } from '../../../../src/text/load-options.ts';
import type { ReadFile } from '../../../../src/text/model-folder.ts';
import { TextModel } from '../../../../src/text/text-model.ts';
import { countBytes } from './count-bytes.ts';

/** Counters of a device and of the machine on it. */
export interface Counts {
  /** Buffers, bind groups and pipelines. */
  readonly made: number;
  readonly launches: number;
  readonly readbacks: number;
  /** Calls whose bytecode was interpreted. */
  readonly interpreted: number;
  /** Calls whose recorded launches were repeated. */
  readonly replayed: number;
  /** Bytes that were written to the device, read from it and copied on it, beside what kernels do. */
  readonly bytes: number;
}

/** A language model in this process whose machine and device can be watched. */
export interface CountedModel {
  readonly model: TextModel;
  readonly counts: () => Counts;
  /** Starts to time each launch; see `Device.startProfile`. */
  readonly startProfile: () => Promise<() => Promise<readonly KernelTiming[]>>;
  dispose(): Promise<void>;
}

/** Loads a model and counts what it does from now on. */
export async function openCounted(
  read: ReadFile,
  options: TextLoadOptions & { readonly device: 'wasm' | 'webgpu' },
): Promise<CountedModel> {
  const opened: { readonly machine: VirtualMachine; readonly device: Device | undefined }[] = [];
  const create = VirtualMachine.create.bind(VirtualMachine);
  VirtualMachine.create = async (executable, own) => {
    const machine = await create(executable, own);
    opened.push({ machine, device: own.devices[0] });
    return machine;
  };
  const gpu = options.device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  let model: TextModel;
  try {
    model = await TextModel.load(read, { worker: false, ...gpu, ...options });
  } finally {
    VirtualMachine.create = create;
  }
  const [{ machine, device } = {}] = opened;
  if (machine === undefined || device === undefined) throw new Error('no machine was made');
  const bytes = countBytes(device);
  return {
    model,
    startProfile: () => device.startProfile(),
    counts: () => {
      const { buffersCreated, bindGroupsCreated, pipelinesCreated, launches, readbacks } =
        device.counters();
      const { interpreted, replayed } = machine.replays();
      const made = buffersCreated + bindGroupsCreated + pipelinesCreated;
      return { made, launches, readbacks, interpreted, replayed, bytes: bytes.count };
    },
    async dispose() {
      bytes.stop();
      await model.dispose();
    },
  };
}
