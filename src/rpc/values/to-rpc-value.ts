import { foldParts } from '../../core/contracts/value-fold.ts';
import { FloatValue } from '../../runtime/values/value.ts';
import { type RpcInput, RpcTuple, type RpcValue } from './rpc-value.ts';

/** A caller's argument as a value: arrays become tuples, booleans 0 or 1, other numbers floats. */
export function toRpcValue(input: RpcInput): RpcValue {
  const convert = foldParts<RpcInput, RpcValue>(
    (value) => (Array.isArray(value) ? value : undefined),
    (value, fields) => {
      if (Array.isArray(value)) return new RpcTuple(fields);
      if (value === undefined) return null;
      if (typeof value === 'boolean') return value ? 1 : 0;
      if (typeof value !== 'number') return value as RpcValue;
      if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
      return new FloatValue(value);
    },
  );
  return convert(input);
}
