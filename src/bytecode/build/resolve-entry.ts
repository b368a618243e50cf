import type { FunctionEntry } from '../executable.ts';

/** The entry of the function table for a name: names of the executable's own functions win. */
export function resolveEntry(
  name: string,
  functions: ReadonlySet<string>,
  primitives: ReadonlySet<string>,
): FunctionEntry {
  if (functions.has(name)) return { kind: 'bytecode', name };
  return { kind: primitives.has(name) ? 'primitive' : 'packed', name };
}
