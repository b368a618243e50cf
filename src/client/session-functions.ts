import { proxy } from 'comlink';
import { errorToData, UsageError } from '../core/errors.ts';
import { foldValues } from '../core/value-fold.ts';
import { type CallPage, WIRE_SIDE, type WireForms, type WireValue } from '../worker/protocol.ts';
import type { DeviceTensor } from './device-tensor.ts';
import type { DataInput, InputValue } from './input-value.ts';
import { wireStructured } from './structured-input.ts';
import { Tensor } from './tensor.ts';
import type { OutputValue } from './wire-values.ts';

/** What a function that a program calls may give: nothing where the program declares `()`. */
export type FunctionResult =
  | Exclude<InputValue, DeviceTensor>
  | boolean
  | DataInput
  | readonly FunctionResult[]
  | undefined
  | void;

/**
 * A function of the page that a program calls by name. Tensors come and go as {@link Tensor}, tuples as
 * arrays, data as `{ constructor, fields }`.
 */
export type SessionFunction = {
  call(...args: OutputValue[]): FunctionResult | Promise<FunctionResult>;
}['call'];

/** Functions of this page, for a worker or a device that calls them. */
export function callableFrom(functions: Readonly<Record<string, SessionFunction>>): CallPage {
  for (const [name, call] of Object.entries(functions)) {
    if (typeof call === 'function') continue;
    const got = `a ${typeof call} as ${name}`;
    throw new UsageError({ where: 'Session.load, functions', got, expected: 'a function' });
  }
  return proxy(async (name: string, args: readonly WireValue[]) => {
    try {
      const call = functions[name];
      if (call === undefined) throw new UsageError(`The page has no function ${name}.`);
      return { ok: true, value: resultOf(await call(...args.map(toOutput)), name) } as const;
    } catch (error) {
      return { ok: false, error: errorToData(error) } as const;
    }
  });
}

const given = ({ value }: { readonly value: OutputValue }): OutputValue => value;

const toOutput = foldValues<WireForms, OutputValue>(WIRE_SIDE, {
  null: () => null,
  int: given,
  float: given,
  string: given,
  shape: given,
  tensor: ({ dtype, data, shape }) => new Tensor(dtype, data, shape),
  handle: () => null,
  adt: ({ tag, name }, fields) => {
    if (name === '') return fields;
    return name === undefined ? { tag, fields } : { constructor: name, fields };
  },
});

function resultOf(result: FunctionResult, name: string): WireValue {
  if (result === undefined || result === null) {
    return { kind: 'adt', tag: 0, name: '', fields: [] };
  }
  if (typeof result === 'boolean') return { kind: 'int', value: Number(result) };
  const { wire } = wireStructured([result as InputValue], `result of ${name}`);
  const field = wire.kind === 'adt' ? wire.fields[0] : undefined;
  return field ?? wire;
}
