import type { FullType, ProgramTypes } from '../bytecode/executable.ts';
import { errorFromData } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { foldValues } from '../core/value-fold.ts';
import type {
  HostFunctions,
  HostFunction,
  HostInput,
  HostNodeFunction,
} from '../runtime/host-function.ts';
import { readTensors } from '../runtime/tensor-read.ts';
import { constructorNames, TypedValues } from '../runtime/typed-values.ts';
import { AdtValue, FloatValue, ShapeValue, type Value } from '../runtime/value.ts';
import {
  type CallPage,
  type LoadRequest,
  WIRE_SIDE,
  type WireForms,
  type WireValue,
} from './protocol.ts';
import { wireAttributes } from './wire-nodes.ts';
import { draftsOf } from './result-draft.ts';

/** Functions of a page as those of a machine: arguments go there, and results come back, by messages. */
export function pageFunctions(
  { functions: names = [], nodeTypes = {} }: Pick<LoadRequest, 'functions' | 'nodeTypes'>,
  callPage: CallPage,
  types: ProgramTypes | undefined,
): HostFunctions {
  const values = new TypedValues(types ?? NO_TYPES);
  const entries = names.map((name): [string, HostFunction | HostNodeFunction] => {
    if (Object.hasOwn(nodeTypes, name)) return [name, nodeFunction(name, callPage, values)];
    const params = types?.packed.find((packed) => packed.name === name)?.params ?? [];
    return [
      name,
      async (...args) => {
        const sent = await toPage(args, params, values);
        const reply = await callPage(name, sent);
        if (!reply.ok) throw errorFromData(reply.error);
        return fromPage(reply.value);
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** Computes nodes of a model in the page. */
function nodeFunction(name: string, callPage: CallPage, values: TypedValues): HostNodeFunction {
  return {
    run: async (inputs, attributes) => {
      const args = inputs.map((input) => input ?? null);
      const sent = await toPage(args, [], values);
      const node = { kind: 'run', attributes: wireAttributes(attributes) } as const;
      const reply = await callPage(name, sent, node);
      if (!reply.ok) throw errorFromData(reply.error);
      return fromPage(reply.value);
    },
  };
}

const NO_TYPES: ProgramTypes = { dataTypes: [], functions: [], packed: [] };

/** Calls a function that the page gave as an argument. What it gives is checked by whoever called. */
export async function callFunction(
  name: string,
  args: readonly Value[],
  callPage: CallPage,
): Promise<HostInput> {
  const reply = await callPage(name, await toPage(args, [], new TypedValues(NO_TYPES)));
  if (!reply.ok) throw errorFromData(reply.error);
  return fromPage(reply.value);
}

/** Values with the elements of their tensors, and with the names of constructors where types tell them. */
async function toPage(
  args: readonly Value[],
  types: readonly FullType[],
  values: TypedValues,
): Promise<WireValue[]> {
  const names = new Map<Value, string>();
  for (const [i, type] of types.entries()) constructorNames(values, args[i] ?? null, type, names);
  const drafts = await draftsOf(args, names);
  const tensors = [...new Set(drafts.flatMap((draft) => draft.tensors))];
  const read = await readTensors(tensors);
  const contents = new Map(tensors.map((tensor, i) => [tensor, read[i]]));
  return drafts.map(({ finish }) =>
    finish((tensor) => {
      const { dtype, shape, data } =
        contents.get(tensor) ?? HostTensor.zeros(tensor.dtype, tensor.shape);
      return { kind: 'tensor', dtype, shape, data };
    }),
  );
}

/** What a page gave, for the conversion by the declared type. */
const fromPage = foldValues<WireForms, HostInput>(WIRE_SIDE, {
  null: () => null,
  int: ({ value }) => value,
  float: ({ value }) => new FloatValue(value),
  string: ({ value }) => value,
  shape: ({ value }) => new ShapeValue(value),
  tensor: ({ dtype, shape, data }) => new HostTensor(dtype, shape, data),
  handle: () => null,
  closure: () => null,
  packed: () => null,
  adt: ({ tag, name }, fields) => dataOf(tag, name, fields),
});

/** A tuple, data of a constructor by its name, or a value of a tag where the page knows no types. */
export function dataOf(
  tag: number,
  name: string | undefined,
  fields: readonly HostInput[],
): HostInput {
  if (name === '') return fields;
  return name === undefined
    ? new AdtValue(tag, fields as readonly Value[])
    : { constructor: name, fields };
}
