import type { Allocator } from '../runtime/allocator/allocator.ts';
import { PooledAllocator } from '../runtime/allocator/pooled-allocator.ts';
import type { ServedDevice } from './served-device.ts';

/** One budget for all machines of a connection, on each device. */
export class ConnectionMemory {
  readonly #byteBudget: number;
  readonly #allocators = new Set<PooledAllocator>();

  constructor(byteBudget: number) {
    this.#byteBudget = byteBudget;
  }

  /** The allocator of a machine, which counts until it is disposed of; `own` is what it asked for. */
  allocator(device: ServedDevice, own: number = this.#byteBudget): Allocator {
    const others = () =>
      [...this.#allocators].filter((other) => other !== allocator && other.device === device);
    const byteBudget = Math.min(own, this.#byteBudget);
    // The others may hold so much before they take from this one's share.
    const spare = own < this.#byteBudget ? this.#byteBudget - own : 0;
    const allocator: PooledAllocator = new MachineAllocator(
      device,
      {
        byteBudget,
        heldElsewhere: () => {
          const held = others().reduce((sum, other) => sum + heldBy(other), 0);
          return Math.max(0, held - spare);
        },
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
    device: ServedDevice,
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
