import { FormatError } from '../core/errors.ts';
import type { Placement } from './protocol.ts';

/** The compiler's notes of calls that it placed on the host. Throws FormatError. */
export function describePlacements(metadata: Readonly<Record<string, string>>): Placement[] {
  const text = metadata['placements'];
  const list = text === undefined ? [] : parse(text);
  if (Array.isArray(list) && list.every(isPlacement)) return list;
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

function isPlacement(item: unknown): item is Placement {
  const names = ['node', 'operator', 'reason'];
  return (
    typeof item === 'object' &&
    item !== null &&
    names.every((name) => typeof Reflect.get(item, name) === 'string')
  );
}
