import type { Allocator } from '../runtime/allocator/allocator.ts';
import { PooledAllocator } from '../runtime/allocator/pooled-allocator.ts';
import type { LendableDevice } from './lendable-device.ts';

/** One budget for all machines of a session, on each device. */
export class SessionMemory {
  readonly #byteBudget: number;
  readonly #allocators = new Set<PooledAllocator>();

  constructor(byteBudget: number) {
    this.#byteBudget = byteBudget;
  }

  /** The allocator of a machine, which counts until it is disposed of. */
  allocator(device: LendableDevice): Allocator {
    const others = () =>
      [...this.#allocators].filter((other) => other !== allocator && other.device === device);
    const allocator: PooledAllocator = new MachineAllocator(
      device,
      {
        byteBudget: this.#byteBudget,
        heldElsewhere: () => others().reduce((sum, other) => sum + heldBy(other), 0),
        onShortage: () => {
          for (const other of others()) other.trim();
        },
      },
      () => this.#allocators.delete(allocator),
    );
    this.#allocators.add(allocator);
    return allocator;
  }
}

class MachineAllocator extends PooledAllocator {
  readonly #onDispose: () => void;

  constructor(
    device: LendableDevice,
    options: ConstructorParameters<typeof PooledAllocator>[1],
    onDispose: () => void,
  ) {
    super(device, options);
    this.#onDispose = onDispose;
  }

  override dispose(): void {
    super.dispose();
    this.#onDispose();
  }
}

function heldBy(allocator: Allocator): number {
  const { liveBytes, pooledBytes, reservedBytes } = allocator.counters();
  return liveBytes + pooledBytes + reservedBytes;
}
