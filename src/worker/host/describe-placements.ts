import { FormatError } from '../../core/errors.ts';
import type { DeviceKind, Placement } from '../protocol/loaded-session.ts';

/** The compiler's notes of calls that it placed beside the session's device. Throws FormatError. */
export function describePlacements(
  metadata: Readonly<Record<string, string>>,
  second: DeviceKind,
): Placement[] {
  const text = metadata['placements'];
  const list = text === undefined ? [] : parse(text);
  if (Array.isArray(list) && list.every(isMovedCall)) {
    const device = second === 'wasm' ? 'wasm' : 'host';
    return list.map(({ node, operator, reason }) => ({ node, operator, device, reason }));
  }
  throw new FormatError({
    where: 'metadata, placements',
    got: String(text).slice(0, 40),
    expected: 'a list of node, operator and reason as JSON',
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMovedCall(item: unknown): item is Omit<Placement, 'device'> {
  const names = ['node', 'operator', 'reason'];
  return (
    typeof item === 'object' &&
    item !== null &&
    names.every((name) => typeof Reflect.get(item, name) === 'string')
  );
}
