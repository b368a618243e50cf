import type { ExecutableData } from '../bytecode/executable.ts';
import type { Device } from '../device/device.ts';
import type { LoadedSession } from './protocol.ts';

/** Where a program runs, as a page sees it. Rejects with FormatError for placements that are none. */
export async function describePlace(
  { metadata }: ExecutableData,
  { kind, info }: Device,
  fallbackReason?: string,
): Promise<Pick<LoadedSession, 'device' | 'placements'>> {
  // Most programs run on one device.
  const placements =
    metadata['placements'] === undefined
      ? []
      : (await import('./describe-placements.ts')).describePlacements(metadata);
  const { name, vendor, architecture, adapterClass } = info;
  return { device: { kind, name, vendor, architecture, adapterClass, fallbackReason }, placements };
}
