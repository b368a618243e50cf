import { FloatValue } from '../runtime/value.ts';
import { foldTree } from './fold-tree.ts';
import { type RpcInput, RpcTuple, type RpcValue } from './rpc-value.ts';

/** What a caller gave as a value: arrays become tuples, booleans 0 or 1, other numbers floats. */
export function toRpcValue(input: RpcInput): RpcValue {
  return foldTree<RpcInput, readonly RpcInput[], RpcValue>(input, {
    isNode: (value): value is readonly RpcInput[] => Array.isArray(value),
    fields: (array) => array,
    leaf: (value) => {
      if (value === undefined) return null;
      if (typeof value === 'boolean') return value ? 1 : 0;
      if (typeof value !== 'number') return value as RpcValue;
      if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
      return new FloatValue(value);
    },
    node: (_, fields) => new RpcTuple(fields),
  });
}
