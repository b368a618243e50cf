import { errorFromData, errorToData, UnsupportedError } from '../../core/errors.ts';
import { foldParts } from '../../core/contracts/value-fold.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type {
  CallPage,
  PageNode,
  WireResult,
  WireTensor,
  WireValue,
} from '../../worker/protocol/wire-value.ts';
import { defineTarget } from '../targets.ts';
import {
  type Check,
  count,
  dictionaryOf,
  dtype,
  int,
  listOf,
  number,
  oneOf,
  optional,
  record,
  text,
  typedArray,
  unexpected,
} from '../values/checked-values.ts';
import { callWithData, isRemoteFunction } from '../values/remote-handles.ts';
import { isRecord, type RpcFunction } from '../values/rpc-value.ts';
import { checkShape } from '../values/wire-values.ts';

// Values of a session, and functions of its page, as they cross a connection. Both sides check what arrives.

const shape: Check<readonly number[]> = (value) => checkShape(value);

const TENSOR = record({ dtype, shape, data: typedArray });

export const wireTensor: Check<WireTensor> = (value, name) => {
  const { data, ...type } = TENSOR(value, name);
  try {
    // Throws where the elements are not of the type.
    return {
      kind: 'tensor',
      ...type,
      data: new HostTensor(type.dtype, type.shape, data).elements,
    };
  } catch {
    throw unexpected(name);
  }
};

const FORMS = {
  null: record({}),
  int: record({ value: int }),
  float: record({ value: number }),
  string: record({ value: text }),
  shape: record({ value: listOf(int) }),
  handle: record({ handle: count, dtype, shape }),
  closure: record({ handle: count }),
};

/** A function of the page on the other side. It never rejects. */
export const callPage: Check<CallPage> = (callee, where) => {
  if (!isRemoteFunction(callee)) throw unexpected(where);
  return async (name, args, node) => {
    try {
      const value = await callWithData(callee, [name, args, node]);
      return { ok: true, value: wireValue(value, `result of ${name}`) };
    } catch (error) {
      return { ok: false, error: errorToData(error) };
    }
  };
};

const PACKED = record({ name: text, call: optional(callPage) });
const ADT = record({ tag: count, name: optional(text) });

const SIMPLE = Object.keys(FORMS) as (keyof typeof FORMS)[];
const kindOf = oneOf('tensor', 'packed', 'adt', 'opaque', ...SIMPLE);

/** A value of a session. Throws UnsupportedError for an object of the page. */
const wireValue: Check<WireValue> = (root, name) => {
  const check = foldParts<unknown, WireValue>(fieldsOf, (value, fields) => {
    if (!isRecord(value)) throw unexpected(name);
    const kind = kindOf(value['kind'], name);
    switch (kind) {
      case 'tensor':
        return wireTensor(value, name);
      case 'packed':
        return { kind, ...PACKED(value, name) };
      case 'opaque':
        throw staysThere(text(value['name'], name));
      case 'adt':
        if (fieldsOf(value) === undefined) throw unexpected(name);
        return { kind, ...ADT(value, name), fields };
      default:
        return { kind, ...FORMS[kind](value, name) } as WireValue;
    }
  });
  return check(root);
};

function fieldsOf(value: unknown): readonly unknown[] | undefined {
  if (!isRecord(value) || value['kind'] !== 'adt') return undefined;
  return Array.isArray(value['fields']) ? value['fields'] : undefined;
}

export const wireValues = listOf(wireValue);

export const codePlace = record({ function: text, instruction: count });

export const wireResults: Check<readonly WireResult[]> = listOf(
  record({ name: text, value: wireValue }),
);

const attribute: Check<number | string | readonly number[] | readonly string[] | WireTensor> = (
  value,
  name,
) => {
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (!Array.isArray(value)) return wireTensor(value, name);
  return typeof value[0] === 'string' ? listOf(text)(value, name) : listOf(number)(value, name);
};

/** Types are asked for where models are compiled, on this side. */
const NODE = record({ kind: oneOf('run'), attributes: dictionaryOf(attribute) });

/** Has the other side call a function of this page, which gets nothing that was not checked. */
export function offerPage(call: CallPage): RpcFunction {
  const callee = call as unknown as RpcFunction;
  return defineTarget(callee, {
    name: 'page',
    ownsResults: false,
    call: async ([name, args, node]) => {
      const given: PageNode | undefined =
        node === undefined || node === null ? undefined : NODE(node, 'node');
      const reply = await call(text(name, 'name'), wireValues(args, 'arguments'), given);
      if (!reply.ok) throw errorFromData(reply.error);
      offerFunctions([reply.value]);
      return reply.value;
    },
    release: () => undefined,
  });
}

/** Has the other side call the functions of the page among values. */
export function offerFunctions(values: readonly WireValue[]): void {
  const offer = foldParts<WireValue, void>(
    (value) => (value.kind === 'adt' ? value.fields : undefined),
    (value) => {
      if (value.kind === 'packed' && value.call !== undefined) offerPage(value.call);
    },
  );
  for (const value of values) offer(value);
}

function staysThere(name: string): UnsupportedError {
  return new UnsupportedError({
    where: 'remote session',
    got: `the opaque value ${JSON.stringify(name)}`,
    expected: 'a number, string, shape, tensor, function, tuple or data',
    remedy: 'An object stays on its side: send a key of it.',
  });
}
