import type { OperatorTable } from '../../ops/operator.ts';
import type { Device } from '../device.ts';
import { HostMemory, type HostMemoryLimits } from './host-memory.ts';
import { ProcessorDevice } from './processor-device.ts';

const GIBIBYTE = 2 ** 30;

/** Limits, by default 4 GiB: what a program asks for must not take all memory there is. */
interface HostDeviceOptions extends Partial<HostMemoryLimits> {
  /** Default: the core operators. */
  readonly operators?: OperatorTable | undefined;
}

/** A device that runs the operators' references in this thread. */
export function createHostDevice({
  maxBufferByteLength = 4 * GIBIBYTE,
  byteBudget = 4 * GIBIBYTE,
  operators,
}: HostDeviceOptions = {}): Device {
  return new ProcessorDevice({
    kind: 'host',
    info: { name: 'host', vendor: '', architecture: '', adapterClass: 'host', maxBufferByteLength },
    memory: new HostMemory({ maxBufferByteLength, byteBudget }),
    operators,
  });
}
