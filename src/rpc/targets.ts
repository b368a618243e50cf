import type { RpcFunction, RpcTarget } from './values/rpc-value.ts';
import { toRpcValue } from './values/to-rpc-value.ts';
import { valueOf } from './values/wire-values.ts';

const TARGETS = new WeakMap<RpcFunction, RpcTarget>();

/** Says how a function is called where more than its arguments matters. */
export function defineTarget<T extends RpcFunction>(callee: T, target: RpcTarget): T {
  TARGETS.set(callee, target);
  return callee;
}

/** How the protocol calls a function. */
export function targetOf(callee: RpcFunction): RpcTarget {
  return (
    TARGETS.get(callee) ?? {
      name: callee.name,
      ownsResults: false,
      call: async (args) => toRpcValue(await callee(...args.map(valueOf))),
      release: () => undefined,
    }
  );
}
