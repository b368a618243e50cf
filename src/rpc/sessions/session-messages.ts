import { UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { foldValues } from '../../core/contracts/value-fold.ts';
import { HOST_FORMS } from '../../worker/host/host-forms.ts';
import type { SessionService } from '../../worker/protocol/session-service.ts';
import {
  WIRE_SIDE,
  type WireForms,
  type WireHandle,
  type WireResult,
  type WireValue,
} from '../../worker/protocol/wire-value.ts';
import { textOf, tupleOf } from '../values/checked-values.ts';
import {
  RPC_SIDE,
  type RpcForms,
  type RpcFunction,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';

/**
 * Calls of a session that was loaded; each is a call of the function that stands for it. Beside those of a page's worker:
 * `watch` and `debug` begin a run that goes on by orders, and give the function that takes them, whose release ends the run;
 * `constants` reads tensors of the pool of constants.
 */
export type SessionCall =
  | Exclude<
      keyof SessionService,
      'handshake' | 'configure' | 'load' | 'release' | 'dispose' | 'cancel'
    >
  | 'watch'
  | 'debug'
  | 'constants';

/** Conversions of values that stay on one side and cross as handles. */
export interface SessionEnds {
  /** Tensors that the device keeps: `toHandle` on the side of the page, `fromHandle` of what came back. */
  readonly toHandle: (wire: WireHandle) => TensorHandle;
  readonly fromHandle: (handle: TensorHandle) => WireHandle;
  /** Functions of the program. */
  readonly toFunction: (wire: WireForms['closure']) => RpcFunction;
  /** Functions of the page. */
  readonly toPage: (wire: WireForms['packed']) => RpcFunction;
  readonly fromFunction: (callee: RpcFunction) => WireForms['closure'] | WireForms['packed'];
}

/**
 * Values of a session as they cross a channel. The first field of data is the name of its constructor, an empty text
 * for a tuple, or null where types tell none.
 */
export function toRpcValues(values: readonly WireValue[], ends: SessionEnds): RpcTuple {
  const convert = foldValues<WireForms, RpcValue>(WIRE_SIDE, {
    ...HOST_FORMS,
    tensor: ({ dtype, shape, data }) => new HostTensor(dtype, shape, data),
    handle: ends.toHandle,
    closure: ends.toFunction,
    packed: ends.toPage,
    opaque: ({ name }) => {
      throw new UnsupportedError({
        where: 'remote session',
        got: `the opaque value ${JSON.stringify(name)}`,
        expected: 'a number, string, shape, tensor, function, tuple or data',
        remedy: 'An object stays on its side: send a key of it.',
      });
    },
    adt: ({ tag, name = null }, fields) => new RpcTuple([name, ...fields], tag),
  });
  return new RpcTuple(values.map(convert));
}

/** The inverse of {@link toRpcValues}. Throws ProtocolError. */
export function fromRpcValues(values: RpcValue | undefined, ends: SessionEnds): WireValue[] {
  const convert = foldValues<RpcForms, WireValue>(RPC_SIDE, {
    null: () => ({ kind: 'null' }),
    int: (value) => ({ kind: 'int', value }),
    float: (value) => ({ kind: 'float', value: typeof value === 'number' ? value : value.value }),
    string: (value) => ({ kind: 'string', value }),
    shape: ({ dims }) => ({ kind: 'shape', value: dims }),
    tensor: ({ dtype, shape, data }) => ({ kind: 'tensor', dtype, shape, data }),
    handle: ends.fromHandle,
    adt: ({ tag }, [name, ...fields]) =>
      name?.kind === 'string'
        ? { kind: 'adt', tag, name: name.value, fields }
        : { kind: 'adt', tag, fields },
    dtype: () => {
      throw malformed('a dtype in a session');
    },
    packed: ends.fromFunction,
  });
  return tupleOf(values).fields.map(convert);
}

/** Results with their names. */
export function toRpcResults(results: readonly WireResult[], ends: SessionEnds): RpcTuple {
  const names = new RpcTuple(results.map(({ name }) => name));
  const values = results.map(({ value }) => value);
  return new RpcTuple([names, toRpcValues(values, ends)]);
}

/** The inverse of {@link toRpcResults}. Throws ProtocolError. */
export function fromRpcResults(results: RpcValue | undefined, ends: SessionEnds): WireResult[] {
  const [names, values] = tupleOf(results).fields;
  const wires = fromRpcValues(values, ends);
  return tupleOf(names).fields.map((name, index) => ({
    name: textOf(name),
    value: wires[index] ?? { kind: 'null' },
  }));
}
