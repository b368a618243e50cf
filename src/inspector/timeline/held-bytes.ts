import type { TimelineStorage } from '../../core/contracts/run-timeline.ts';

/** The bytes of storages that are held from a moment on. */
export interface HeldBytes {
  readonly atMs: number;
  readonly bytes: number;
}

/** The most bytes that are held, and by which storages, the largest first. */
interface MemoryPeak extends HeldBytes {
  readonly holders: readonly TimelineStorage[];
}

interface Change extends HeldBytes {
  /** Its place among all changes. */
  readonly order: number;
}

/** Undefined where nothing is allocated. */
export function peakOf(storages: readonly TimelineStorage[]): MemoryPeak | undefined {
  const [first, ...others] = heldBytes(storages);
  if (first === undefined) return undefined;
  const peak = others.reduce((most, each) => (each.bytes > most.bytes ? each : most), first);
  const holders = storages.filter(
    ({ order: [allocated, givenBack] }) => allocated <= peak.order && givenBack > peak.order,
  );
  const { atMs, bytes } = peak;
  return { atMs, bytes, holders: holders.toSorted((a, b) => b.bytes - a.bytes) };
}

/** The bytes that are held behind each allocation and each storage that is given back, in their order. */
export function heldBytes(storages: readonly TimelineStorage[]): readonly Change[] {
  const changes = storages.flatMap(({ beginMs, endMs, bytes, order: [allocated, givenBack] }) => [
    { atMs: beginMs, order: allocated, by: bytes },
    { atMs: endMs, order: givenBack, by: -bytes },
  ]);
  let bytes = 0;
  return changes
    .toSorted((a, b) => a.order - b.order)
    .map(({ atMs, order, by }) => ({ atMs, order, bytes: (bytes += by) }));
}
