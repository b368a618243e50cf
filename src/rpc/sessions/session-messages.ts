import { UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { foldValues } from '../../core/value-fold.ts';
import { FloatValue, ShapeValue } from '../../runtime/value.ts';
import {
  type SessionService,
  WIRE_SIDE,
  type WireForms,
  type WireHandle,
  type WireResult,
  type WireValue,
} from '../../worker/protocol.ts';
import { textOf, tupleOf } from '../checked-values.ts';
import {
  RPC_SIDE,
  type RpcForms,
  type RpcFunction,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from '../rpc-value.ts';

/** Calls of a session that was loaded; each is a call of the function that stands for it. */
export type SessionCall = Exclude<
  keyof SessionService,
  'handshake' | 'configure' | 'load' | 'release' | 'dispose' | 'cancel'
>;

/** Values of a session as they cross a channel; a tensor that stays is a handle of the channel. */
export function toRpcValues(
  values: readonly WireValue[],
  handleOf: (wire: WireHandle) => TensorHandle,
): RpcTuple {
  const convert = foldValues<WireForms, RpcValue>(WIRE_SIDE, {
    null: () => null,
    int: ({ value }) => value,
    float: ({ value }) => new FloatValue(value),
    string: ({ value }) => value,
    shape: ({ value }) => new ShapeValue(value),
    tensor: ({ dtype, shape, data }) => new HostTensor(dtype, shape, data),
    handle: handleOf,
    closure: () => refuse('a function'),
    packed: ({ name }) => refuse(`the function ${name}`),
    adt: ({ tag }, fields) => new RpcTuple(fields, tag),
  });
  return new RpcTuple(values.map(convert));
}

/** The inverse of {@link toRpcValues}. Throws ProtocolError, and UnsupportedError for functions. */
export function fromRpcValues(
  values: RpcValue | undefined,
  handleOf: (handle: TensorHandle) => WireHandle,
): WireValue[] {
  const convert = foldValues<RpcForms, WireValue>(RPC_SIDE, {
    null: () => ({ kind: 'null' }),
    int: (value) => ({ kind: 'int', value }),
    float: (value) => ({ kind: 'float', value: typeof value === 'number' ? value : value.value }),
    string: (value) => ({ kind: 'string', value }),
    shape: ({ dims }) => ({ kind: 'shape', value: dims }),
    tensor: ({ dtype, shape, data }) => ({ kind: 'tensor', dtype, shape, data }),
    handle: handleOf,
    adt: ({ tag }, fields) => ({ kind: 'adt', tag, fields }),
    dtype: () => refuse('a dtype'),
    packed: (callee: RpcFunction) => refuse(`the function ${callee.name}`),
  });
  return tupleOf(values).fields.map(convert);
}

function refuse(got: string): never {
  throw new UnsupportedError({
    where: 'session on a remote device',
    got,
    expected: 'a tensor, number, string, shape or tuple of them',
    remedy: 'Load the program with remote.load, whose functions take functions.',
  });
}

/** Results with their names. */
export function toRpcResults(
  results: readonly WireResult[],
  handleOf: (wire: WireHandle) => TensorHandle,
): RpcTuple {
  const names = new RpcTuple(results.map(({ name }) => name));
  return new RpcTuple([
    names,
    toRpcValues(
      results.map(({ value }) => value),
      handleOf,
    ),
  ]);
}

/** The inverse of {@link toRpcResults}. Throws ProtocolError. */
export function fromRpcResults(
  results: RpcValue | undefined,
  handleOf: (handle: TensorHandle) => WireHandle,
): WireResult[] {
  const [names, values] = tupleOf(results).fields;
  const wires = fromRpcValues(values, handleOf);
  return tupleOf(names).fields.map((name, index) => ({
    name: textOf(name),
    value: wires[index] ?? { kind: 'null' },
  }));
}
