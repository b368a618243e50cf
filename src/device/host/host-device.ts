import type { OperatorTable } from '../../ops/operator.ts';
import type { Device } from '../device.ts';
import { HostMemory, type HostMemoryLimits } from './host-memory.ts';
import { ProcessorDevice } from './processor-device.ts';

const GIBIBYTE = 2 ** 30;

/** Limits, by default 4 GiB: what a program asks for must not take all memory there is. */
export interface HostDeviceOptions extends Partial<HostMemoryLimits> {
  /** Default: the core operators. */
  readonly operators?: OperatorTable | undefined;
}

/** A device that runs the operators' references in this thread. */
export function createHostDevice(options: HostDeviceOptions = {}): Device {
  return hostDevice('host', options, true);
}

/** A device that checks, plans and counts everything and computes nothing: results stay zero. */
export function createNullDevice(options: HostDeviceOptions = {}): Device {
  return hostDevice('null', options, false);
}

function hostDevice(name: string, options: HostDeviceOptions, computes: boolean): Device {
  const { maxBufferByteLength = 4 * GIBIBYTE, byteBudget = 4 * GIBIBYTE, operators } = options;
  return new ProcessorDevice({
    kind: 'host',
    info: { name, vendor: '', architecture: '', adapterClass: 'host', maxBufferByteLength },
    memory: new HostMemory({ maxBufferByteLength, byteBudget }),
    operators,
    computes,
  });
}
