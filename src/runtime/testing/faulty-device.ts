import { OutOfMemoryError } from '../../core/errors.ts';
import type { Device, Kernel, PreparedKernels } from '../../device/device.ts';

/** Functions of a device that may fail, and of its kernels. */
export const DEVICE_OPERATIONS = [
  'prepare',
  'createBuffer',
  'write',
  'copy',
  'read',
  'readSync',
  'launch',
] as const;

type DeviceOperation = (typeof DEVICE_OPERATIONS)[number];

/** Counts calls of one operation; the `at`-th throws, or rejects where it gives a promise. */
export class FaultPlan {
  readonly operation: DeviceOperation;
  readonly at: number;
  calls = 0;

  constructor(operation: DeviceOperation, at: number) {
    this.operation = operation;
    this.at = at;
  }

  get hasStruck(): boolean {
    return this.calls >= this.at;
  }

  /** Call before the operation. */
  check(operation: DeviceOperation): void {
    if (operation !== this.operation || ++this.calls !== this.at) return;
    throw new OutOfMemoryError(`an injected fault: ${operation} ${this.at}`);
  }
}

/** A device one of whose calls fails. */
export function faultyDevice(device: Device, plan: FaultPlan): Device {
  const kernelsOf = (kernels: PreparedKernels): PreparedKernels => ({
    ...kernels,
    get: (name) => {
      const kernel = kernels.get(name);
      return kernel && faultyKernel(kernel, plan);
    },
  });
  const own: Partial<Device> = {
    prepare: async (...args) => {
      plan.check('prepare');
      return kernelsOf(await device.prepare(...args));
    },
    createBuffer: (byteLength) => {
      plan.check('createBuffer');
      return device.createBuffer(byteLength);
    },
    write: (...args) => {
      plan.check('write');
      device.write(...args);
    },
    copy: (...args) => {
      plan.check('copy');
      device.copy(...args);
    },
    read: async (ranges) => {
      plan.check('read');
      return device.read(ranges);
    },
    readSync: (range) => {
      plan.check('readSync');
      return device.readSync(range);
    },
  };
  return new Proxy(device, {
    get(target, key) {
      const value: unknown = Reflect.get(own, key) ?? Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function faultyKernel(kernel: Kernel, plan: FaultPlan): Kernel {
  return {
    name: kernel.name,
    launch: (args) => {
      plan.check('launch');
      kernel.launch(args);
    },
    ...('compute' in kernel && {
      compute: (inputs) => {
        plan.check('launch');
        const result = kernel.compute?.(inputs);
        if (result === undefined) throw new Error('internal: a kernel without a result');
        return result;
      },
    }),
  };
}
