import { having, requireKind } from '../../core/check-options.ts';
import type { HostFunction } from './host-function.ts';
import { handOver, type Value } from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/**
 * Functions of a loaded executable as functions for another one, by name: pass them to `VirtualMachine.create` as
 * `functions`, and the other program calls them with `extern def`. Both machines need the same devices, since
 * tensors go from one to the other as they are. A machine has to outlive those that import from it. Without `names`
 * all functions. Throws UsageError for a name that the executable does not have.
 */
export function importFunctions(
  machine: VirtualMachine,
  names?: readonly string[],
): Readonly<Record<string, HostFunction>> {
  requireKind('importFunctions', having('a VirtualMachine', 'get'), ['what is', machine]);
  if (names !== undefined) requireKind('importFunctions', 'names', ['names', names]);
  const all = names ?? machine.executable.functions.map(({ name }) => name);
  const functions = all.map((name): [string, HostFunction] => {
    const call = machine.get(name);
    return [name, async (...args: Value[]) => handOver(await call(...args))];
  });
  return Object.fromEntries(functions);
}
