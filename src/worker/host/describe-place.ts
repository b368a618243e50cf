import type { ExecutableData } from '../../bytecode/executable.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { LoadedSession, SessionDevice } from '../protocol/loaded-session.ts';
import type { SessionDevices } from './shared-use.ts';

type Place = Pick<LoadedSession, 'device' | 'placements'>;

/**
 * Tells of a machine where it runs its program, as a page sees it. Rejects with FormatError for placements
 * that are none.
 */
export async function describePlace(
  { metadata }: ExecutableData,
  { main, host }: SessionDevices,
  { reason, fallbackReason }: Pick<SessionDevice, 'reason' | 'fallbackReason'>,
): Promise<(machine: VirtualMachine) => Place> {
  const { kind, info } = main.device;
  const { name, vendor, architecture, adapterClass } = info;
  // Most programs run on one device.
  const moved =
    metadata['placements'] === undefined
      ? []
      : (await import('./describe-placements.ts')).describePlacements(metadata, host.device.kind);
  return (machine) => {
    // By now it is known whether threads could be started.
    const { threads = 1 } = main.device.info;
    const device = {
      kind,
      name,
      vendor,
      architecture,
      adapterClass,
      threads,
      reason,
      fallbackReason,
    };
    const references = machine.internals().libraries.flatMap(({ references = [] }) => references);
    const slow = references.map(({ primitive, label }) => {
      const reason = 'the operator has no WebAssembly for it, so its reference runs';
      return { node: primitive, operator: label, device: 'wasm', reason } as const;
    });
    // In a session in WebAssembly, what the compiler moved is on the session's device too.
    return { device, placements: kind === 'wasm' ? slow : [...moved, ...slow] };
  };
}

/** The reason for a device that was asked for by name. */
export const requested = (kind: string): string => `The session requested '${kind}'.`;
