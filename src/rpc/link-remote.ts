import { UsageError } from '../core/errors.ts';
import type { HostFunction } from '../runtime/link/host-function.ts';
import { type MachineValue, type Value } from '../runtime/values/value.ts';
import { isMachine, packedFunction } from './values/machine-values.ts';
import type { RpcFunction } from './values/rpc-value.ts';

/**
 * A remote function as a packed function, for option `functions` of a session or a machine: the
 * program then calls a function that lives on another device. Its arguments are read and sent, its
 * result is uploaded. The program passes `%vm` first, as to every function that makes tensors; it
 * is not sent.
 */
export function linkRemote(callee: RpcFunction): HostFunction {
  const name = callee.name === '' ? 'a remote function' : callee.name;
  return async (...args: Value[]) => {
    const [machine] = args;
    const isFirst = machine !== undefined && isMachine(machine);
    const home = (): MachineValue => {
      if (isFirst) return machine;
      throw new UsageError({
        where: name,
        got: 'a call without %vm whose result holds tensors',
        expected: 'the machine as first argument',
        remedy: 'Let the program pass %vm first.',
      });
    };
    return packedFunction(callee, home)(...args);
  };
}
