import { proxy } from 'comlink';
import { errorToData, UsageError } from '../core/errors.ts';
import type { OpaqueValue } from '../core/contracts/opaque-value.ts';
import { foldValues } from '../core/contracts/value-fold.ts';
import type { NodeOutput, NodeSignature } from '../core/contracts/node-function.ts';
import type { PageNodeTypes } from '../worker/protocol/load-request.ts';
import type { HandleId } from '../worker/protocol/reply.ts';
import {
  type CallPage,
  type PageNode,
  WIRE_SIDE,
  type WireAttributes,
  type WireForms,
  type WireSignature,
  type WireValue,
} from '../worker/protocol/wire-value.ts';
import type { PageObjects } from './values/page-objects.ts';
import type {
  FunctionInput,
  FunctionResult,
  InputValue,
  OutputValue,
  ProgramFunction,
  SessionFunction,
} from './values/session-value.ts';
import { wireStructured } from './values/structured-input.ts';
import { Tensor } from './values/tensor.ts';
import { PAGE_FORMS } from './values/wire-values.ts';

/** An attribute of a node of an ONNX model. */
export type SessionNodeAttribute = number | string | readonly number[] | readonly string[] | Tensor;

export type SessionNodeAttributes = Readonly<Record<string, SessionNodeAttribute>>;

/** A node, as the function sees it that tells its type; see `NodeSignature` of `weft-vm/compiler`. */
export type SessionNodeSignature = Omit<NodeSignature, 'attributes'> & {
  readonly attributes: SessionNodeAttributes;
};

/** A function of the page that computes nodes of an ONNX model, those of one operator of another domain. */
export interface SessionNodeFunction {
  /**
   * The type of the nodes: one for all, such as `fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]`, or a
   * function that gives the types of a node's outputs. A model needs it; an executable has it already.
   */
  readonly type?:
    | string
    | ((node: SessionNodeSignature) => NodeOutput | readonly NodeOutput[])
    | undefined;
  /**
   * Gets the inputs of a node, undefined for those that it leaves out, and its attributes. Gives its output, or an
   * array where it has several.
   */
  readonly run: (
    inputs: readonly (Tensor | undefined)[],
    attributes: SessionNodeAttributes,
  ) => FunctionResult | Promise<FunctionResult>;
}

/** Functions of a page by name; `my.domain::Op` is one that computes nodes. */
export type SessionFunctions = Readonly<Record<string, SessionFunction | SessionNodeFunction>>;

/** Converts functions and objects between a page and its program. */
export interface FunctionBridge {
  readonly objects: PageObjects;
  /** An object of the page, as it goes there. */
  wireObject(value: OpaqueValue): WireValue;
  /** A function of the program, for the page to call. Throws UsageError before the session is loaded. */
  functionOf(handle: HandleId): ProgramFunction;
  /** Frees a function that a call of the page was given, unless it is kept or among those that go on. */
  endCall(fn: ProgramFunction, goingOn: ReadonlySet<HandleId>): void;
  /** A function of the page, or of the program, as it goes there; those of the page are called by `callPage`. */
  wire(fn: FunctionInput, where: string): WireValue;
  /** A function of the page that went there. */
  argument(name: string): SessionFunction | undefined;
}

/** Functions of this page, for a worker or a device that calls them. */
export function callableFrom(functions: SessionFunctions, bridge: FunctionBridge): CallPage {
  for (const [name, call] of Object.entries(functions)) {
    if (typeof call === 'function' || isNodeFunction(call)) continue;
    const got = `a ${typeof call} as ${name}`;
    throw new UsageError({ where: 'Session.load, functions', got, expected: 'a function' });
  }
  return proxy(async (name: string, args: readonly WireValue[], node?: PageNode) => {
    try {
      if (node?.kind === 'drop') {
        for (const one of args) if (one.kind === 'opaque') bridge.objects.drop(one);
        return { ok: true, value: { kind: 'null' } } as const;
      }
      const call = functions[name] ?? bridge.argument(name);
      if (call === undefined) throw new UsageError(`The page has no function ${name}.`);
      return { ok: true, value: await answer(name, call, { args, node, bridge }) } as const;
    } catch (error) {
      return { ok: false, error: errorToData(error) } as const;
    }
  });
}

/** The types of functions that compute nodes; null where these have to be asked. */
export function nodeTypesIn(functions: SessionFunctions): PageNodeTypes {
  const entries = Object.entries(functions).flatMap(([name, fn]) => {
    if (typeof fn === 'function') return [];
    return [[name, typeof fn.type === 'string' ? fn.type : null] as const];
  });
  return Object.fromEntries(entries);
}

function isNodeFunction(fn: unknown): fn is SessionNodeFunction {
  if (typeof fn !== 'object' || fn === null || !('run' in fn)) return false;
  const type = 'type' in fn ? fn.type : undefined;
  return typeof fn.run === 'function' && /^(?:undefined|string|function)$/.test(typeof type);
}

interface PageCall {
  readonly args: readonly WireValue[];
  readonly node: PageNode | undefined;
  readonly bridge: FunctionBridge;
}

async function answer(
  name: string,
  fn: SessionFunction | SessionNodeFunction,
  { args, node, bridge }: PageCall,
): Promise<WireValue> {
  const made: ProgramFunction[] = [];
  const toOutput = outputsBy(bridge, made);
  if (typeof fn === 'function') {
    const held = new Set<HandleId>();
    try {
      const result = resultOf(await fn(...args.map(toOutput)), name, bridge);
      collectHandles(result, held);
      return result;
    } finally {
      for (const one of made) bridge.endCall(one, held);
    }
  }
  if (node?.kind === 'type') return { kind: 'string', value: typeOf(name, fn, node.signature) };
  const inputs = args.map(toOutput).map((value) => (value instanceof Tensor ? value : undefined));
  const attributes = node?.kind === 'run' ? node.attributes : {};
  return resultOf(await fn.run(inputs, attributesOf(attributes)), name, bridge);
}

/** The types of the outputs of a node, as JSON. */
function typeOf(
  name: string,
  { type }: SessionNodeFunction,
  { attributes, ...node }: WireSignature,
): string {
  if (typeof type !== 'function') {
    const expected = 'a type, by which models with such nodes are compiled';
    throw new UsageError({ where: `functions, ${name}`, got: 'no type', expected });
  }
  const outputs = type({ ...node, attributes: attributesOf(attributes) });
  return JSON.stringify(Array.isArray(outputs) ? outputs : [outputs]);
}

function attributesOf(attributes: WireAttributes): SessionNodeAttributes {
  const entries = Object.entries(attributes).map(
    ([name, value]): [string, SessionNodeAttribute] => {
      const isTensor = typeof value === 'object' && 'kind' in value;
      return [name, isTensor ? new Tensor(value.dtype, value.data, value.shape) : value];
    },
  );
  return Object.fromEntries(entries);
}

/** The functions of the program in a result: they go on. */
function collectHandles(value: WireValue, into: Set<HandleId>): void {
  if (value.kind === 'closure') into.add(value.handle);
  if (value.kind === 'adt') for (const field of value.fields) collectHandles(field, into);
}

/** `made`: gets the functions of the program among the values. */
const outputsBy = (
  bridge: FunctionBridge,
  made: ProgramFunction[],
): ((value: WireValue) => OutputValue) =>
  foldValues<WireForms, OutputValue>(WIRE_SIDE, {
    ...PAGE_FORMS,
    handle: () => null,
    closure: ({ handle }) => {
      const one = bridge.functionOf(handle);
      made.push(one);
      return one;
    },
    opaque: (value) => bridge.objects.get(value),
    packed: () => null,
    adt: ({ tag, name }, fields) => {
      if (name === '') return fields;
      return name === undefined ? { tag, fields } : { constructor: name, fields };
    },
  });

function resultOf(result: FunctionResult, name: string, bridge: FunctionBridge): WireValue {
  if (result === undefined || result === null) {
    return { kind: 'adt', tag: 0, name: '', fields: [] };
  }
  if (typeof result === 'boolean') return { kind: 'int', value: Number(result) };
  const { wire } = wireStructured([result as InputValue], `result of ${name}`, bridge);
  const field = wire.kind === 'adt' ? wire.fields[0] : undefined;
  return field ?? wire;
}
