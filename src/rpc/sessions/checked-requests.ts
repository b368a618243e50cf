import { COMPILE_MODES } from '../../core/contracts/compile-mode.ts';
import { PRECISIONS } from '../../core/contracts/precision.ts';
import { MOST_TIMELINE_RUNS } from '../../core/contracts/run-timeline.ts';
import type { ControlRequest } from '../../worker/protocol/control-request.ts';
import type { Breakpoint, DebugOrder } from '../../worker/protocol/debug-order.ts';
import type { LoadRequest } from '../../worker/protocol/load-request.ts';
import type { Keep, RunRequest } from '../../worker/protocol/run-request.ts';
import { PROGRAM_NUMBERS } from '../../worker/host/within-ceilings.ts';
import type { ToolName, ToolRequest } from '../../worker/tools/tools.ts';
import {
  bytes,
  type Check,
  count,
  dictionaryOf,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  record,
  text,
  unexpected,
} from '../values/checked-values.ts';
import { isRecord } from '../values/rpc-value.ts';
import { codePlace, wireValues } from './checked-values.ts';

// Requests of a session as its other side sent them: what is not named here does not reach the host. All throw ProtocolError.

const positive: Check<number> = (value, name) => {
  if (typeof value === 'number' && value > 0) return value;
  throw unexpected(name);
};

const LIMITS = record(
  Object.fromEntries(PROGRAM_NUMBERS.map((name) => [name, optional(positive)])) as Record<
    (typeof PROGRAM_NUMBERS)[number],
    Check<number | undefined>
  >,
);

const LOAD = record({
  source: record({ kind: oneOf('stored'), hash: text }),
  device: oneOf('auto', 'webgpu', 'wasm', 'host'),
  programKernels: optional(oneOf('allow', 'refuse')),
  compile: optional(oneOf(...COMPILE_MODES)),
  precision: optional(oneOf(...PRECISIONS)),
  functions: optional(listOf(text)),
  nodeTypes: optional(dictionaryOf((value, name) => optional(text)(value, name) ?? null)),
});

/** A request to open a session of a program that was sent. */
export const loadRequest: Check<LoadRequest & ReturnType<typeof LOAD>> = (value, name) => ({
  ...LOAD(value, name),
  ...LIMITS(value, name),
  dims: {},
});

const keep: Check<Keep> = (value, name) =>
  typeof value === 'string' ? oneOf('host', 'device')(value, name) : listOf(text)(value, name);

export const runRequest: Check<RunRequest> = record({
  session: count,
  functionName: text,
  callee: optional(count),
  args: wireValues,
  keep: optional(keep),
  donate: optional(listOf(text)),
});

export const sizes = dictionaryOf(count);

/** A run that stands after each kernel; see `ServedWatch`. */
export const watchRequest = record({ functionName: text, args: wireValues, keepsInputs: flag });

/** Numbers of constants in ascending order: none twice. */
export const indices: Check<readonly number[]> = (value, name) => {
  const list = listOf(count)(value, name);
  if (list.every((index, i) => i === 0 || index > Number(list[i - 1]))) return list;
  throw unexpected(name);
};

/** Breakpoints of a debugging run. */
const MOST_BREAKPOINTS = 100;
/** Parts within parts of a value. */
const LONGEST_PATH = 1000;

const breakpoint: Check<Breakpoint> = (value, name) => {
  if (!isRecord(value)) throw unexpected(name);
  if ('node' in value) return record({ node: text })(value, name);
  if ('output' in value) return record({ output: oneOf('nan', 'infinity') })(value, name);
  if ('outputAbove' in value) return record({ outputAbove: number })(value, name);
  return record({ at: codePlace })(value, name);
};

const NOTHING = record({});

/** Numbers that are no integers are refused where pages get the error. */
const ORDERS: { readonly [Do in DebugOrder['do']]: Check<object> } = {
  start: NOTHING,
  step: NOTHING,
  stepOver: NOTHING,
  stepOut: NOTHING,
  stepBack: NOTHING,
  continue: NOTHING,
  pause: NOTHING,
  memory: NOTHING,
  close: NOTHING,
  seek: record({ executed: number }),
  setBreakpoints: record({ breakpoints: listOf(breakpoint, MOST_BREAKPOINTS) }),
  registers: record({ frame: number }),
  value: record({ frame: number, register: number, path: listOf(number, LONGEST_PATH) }),
};

const debugOrder: Check<DebugOrder> = (value, name) => {
  const sent = isRecord(value) ? value['do'] : undefined;
  const order = oneOf(...(Object.keys(ORDERS) as DebugOrder['do'][]))(sent, name);
  return { do: order, ...ORDERS[order](value, name) } as DebugOrder;
};

/** Without what pages do themselves, and without what needs the memory or the files of the server. */
type ServedKind = Exclude<
  ControlRequest['kind'],
  'adopt' | 'draw' | 'drop' | 'expose' | 'hold' | 'keep' | 'pixels' | 'prepare' | 'sample'
>;

type Parts<Kind extends ServedKind> = Omit<
  Extract<ControlRequest, { readonly kind: Kind }>,
  'kind' | 'args'
>;

const timelineRuns: Check<number> = (value, name) => {
  const runs = count(value, name);
  if (runs >= 1 && runs <= MOST_TIMELINE_RUNS) return runs;
  throw unexpected(name);
};

/** Requests to the tools that a server has: the others run on the side of the page, or are not there. */
const TOOL_REQUESTS: { readonly [Name in ToolName]?: Check<ToolRequest<Name>> } = {
  source: record({ kernel: text }),
  listing: NOTHING,
  timeline: record({ functionName: text, runs: timelineRuns }),
  debug: (value, name) =>
    isRecord(value) && value['order'] !== undefined
      ? record({ run: count, order: debugOrder })(value, name)
      : record({ run: count, functionName: text })(value, name),
};

export const SERVED_TOOLS = Object.keys(TOOL_REQUESTS) as ToolName[];

const toolRequest: Check<Parts<'tool'>> = (value, name) => {
  if (!isRecord(value)) throw unexpected(name);
  const tool = oneOf(...SERVED_TOOLS)(value['tool'], 'tool');
  const request = TOOL_REQUESTS[tool]?.(value['request'], 'request');
  if (request === undefined) throw unexpected(name);
  return { tool, request };
};

const CONTROLS: { readonly [Kind in ServedKind]: Check<Parts<Kind>> } = {
  pause: record({ at: optional(codePlace), visit: optional(count) }),
  continue: NOTHING,
  program: NOTHING,
  snapshot: record({ names: listOf(text), note: text, pausing: flag }),
  restore: record({ bytes }),
  result: record({ index: count, keep }),
  tool: toolRequest,
};

/** A request to pause, go on, store, resume, measure or debug. */
export const controlRequest: Check<Extract<ControlRequest, { readonly kind: ServedKind }>> = (
  value,
  name,
) => {
  if (!isRecord(value)) throw unexpected(name);
  const kind = oneOf(...(Object.keys(CONTROLS) as ServedKind[]))(value['kind'], 'kind');
  const args = wireValues(value['args'], 'args');
  return { kind, args, ...CONTROLS[kind](value, name) } as Extract<
    ControlRequest,
    { readonly kind: ServedKind }
  >;
};
