import type { FullType, ProgramTypes } from '../../bytecode/executable.ts';
import { errorFromData } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { foldValues } from '../../core/contracts/value-fold.ts';
import type {
  HostFunctions,
  HostFunction,
  HostInput,
  HostNodeFunction,
} from '../../runtime/link/host-function.ts';
import { readTensors } from '../../runtime/values/tensor-read.ts';
import {
  constructorNames,
  type FunctionType,
  TypedValues,
} from '../../runtime/values/typed-values.ts';
import { AdtValue, type Value } from '../../runtime/values/value.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { Reply } from '../protocol/reply.ts';
import {
  type CallPage,
  WIRE_SIDE,
  type WireForms,
  type WireValue,
} from '../protocol/wire-value.ts';
import { type FunctionValue, newHeld } from './held-functions.ts';
import type { HeldValues } from './held-values.ts';
import { HOST_FORMS } from './host-forms.ts';
import { PageObject } from './page-object.ts';
import { wireAttributes } from '../compile/wire-nodes.ts';
import { draftsOf } from './read-result.ts';

/** The session of a program that calls functions of the page. */
export interface CallingSession {
  readonly held: HeldValues;
  /** One more function of the page is at work, or with -1 one less: it may call the session. */
  countPageCalls(change: 1 | -1): void;
}

/** A page that is called, and the session that holds functions for it. */
export interface CalledPage {
  readonly callPage: CallPage;
  /** Undefined until it is loaded. */
  readonly session: CallingSession | undefined;
}

/** Functions of a page as those of a machine: arguments go there, and results come back, by messages. */
export function pageFunctions(
  { functions: names = [], nodeTypes = {} }: Pick<LoadRequest, 'functions' | 'nodeTypes'>,
  page: CalledPage,
  types: ProgramTypes | undefined,
): HostFunctions {
  const values = new TypedValues(types ?? NO_TYPES);
  const entries = names.map((name): [string, HostFunction | HostNodeFunction] => {
    if (Object.hasOwn(nodeTypes, name)) return [name, nodeFunction(name, page, values)];
    const params = types?.packed.find((packed) => packed.name === name)?.params ?? [];
    return [
      name,
      async (...args) => {
        const sent = await toPage(args, { params, values, session: page.session });
        return ask(page, name, sent);
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** Computes nodes of a model in the page. */
function nodeFunction(name: string, page: CalledPage, values: TypedValues): HostNodeFunction {
  return {
    run: async (inputs, attributes) => {
      const args = inputs.map((input) => input ?? null);
      const sent = await toPage(args, { params: [], values, session: page.session });
      const node = { kind: 'run', attributes: wireAttributes(attributes) } as const;
      return ask(page, name, sent, node);
    },
  };
}

const NO_TYPES: ProgramTypes = { dataTypes: [], functions: [], packed: [] };

/** Calls a function that the page gave as an argument. The caller checks its result. */
export async function callFunction(
  name: string,
  args: readonly Value[],
  page: CalledPage,
): Promise<HostInput> {
  const values = new TypedValues(NO_TYPES);
  const sent = await toPage(args, { params: [], values, session: page.session });
  return ask(page, name, sent);
}

/** Calls a function of the page, and gives its result. */
async function ask(page: CalledPage, ...call: Parameters<CallPage>): Promise<HostInput> {
  page.session?.countPageCalls(1);
  try {
    const reply: Reply<WireValue> = await page.callPage(...call);
    if (!reply.ok) throw errorFromData(reply.error);
    return fromPage(reply.value, page);
  } finally {
    page.session?.countPageCalls(-1);
  }
}

interface SentTypes {
  readonly params: readonly FullType[];
  readonly values: TypedValues;
  readonly session: CallingSession | undefined;
}

/** Values with the elements of their tensors, and with the names of constructors where types tell them. */
async function toPage(
  args: readonly Value[],
  { params, values, session }: SentTypes,
): Promise<WireValue[]> {
  const names = new Map<Value, string>();
  const functions = new Map<Value, FunctionType>();
  for (const [i, type] of params.entries()) {
    constructorNames(values, args[i] ?? null, type, names, functions);
  }
  const hold =
    session &&
    ((value: FunctionValue) => session.held.holdFunction(value, functions.get(value), newHeld));
  const drafts = await draftsOf(args, names, hold);
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

/** Converts a value of the page to the form that the conversion by declared types reads. */
function fromPage(given: WireValue, page: CalledPage): HostInput {
  const convert = foldValues<WireForms, HostInput>(WIRE_SIDE, {
    ...HOST_FORMS,
    tensor: ({ dtype, shape, data }) => new HostTensor(dtype, shape, data),
    handle: () => null,
    closure: ({ handle }) => page.session?.held.function(handle).value ?? null,
    packed: ({ name, call: callPage = page.callPage }) => {
      const call: HostFunction = (...args) => callFunction(name, args, { ...page, callPage });
      return Object.defineProperty(call, 'name', { value: name });
    },
    opaque: (wire) => new PageObject(wire, page.callPage),
    adt: ({ tag, name }, fields) => dataOf(tag, name, fields),
  });
  return convert(given);
}

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
