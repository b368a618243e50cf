import { COMPILE_MODES, type CompileModeOption } from '../../core/contracts/compile-mode.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import { PRECISIONS, type PrecisionOption } from '../../core/contracts/precision.ts';
import { MOST_TIMELINE_RUNS } from '../../core/contracts/run-timeline.ts';
import type { ControlRequest } from '../../worker/protocol/control-request.ts';
import type { Breakpoint, DebugOrder } from '../../worker/protocol/debug-order.ts';
import type { Dims } from '../../worker/protocol/dispatch-sizes.ts';
import { PROGRAM_NUMBERS, type RequestLimits } from '../../worker/host/within-ceilings.ts';
import { bytesOf, objectOf } from '../values/checked-values.ts';
import type { RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import { reviveNumbers } from './number-json.ts';

// Requests of a session as its other side sent them. All throw ProtocolError for what no page sends.

type Sent = Readonly<Record<string, unknown>>;

/** Without the values that go with it. */
export type SentControl = ControlRequest extends infer Request
  ? Request extends ControlRequest
    ? Omit<Request, 'args'>
    : never
  : never;

/** Reads the limits of a session from a request. */
export function programLimits(sent: Sent): RequestLimits & CompileModeOption & PrecisionOption {
  const limits: Record<string, unknown> = {};
  for (const name of PROGRAM_NUMBERS) {
    const limit = sent[name];
    if (limit === undefined) continue;
    if (!(typeof limit === 'number' && limit > 0)) throw unexpected(name);
    limits[name] = limit;
  }
  if (sent['programKernels'] === 'refuse') limits['programKernels'] = 'refuse';
  const mode = COMPILE_MODES.find((known) => known === sent['compile']);
  if (mode !== undefined) limits['compile'] = mode;
  const precision = PRECISIONS.find((known) => known === sent['precision']);
  if (precision !== undefined) limits['precision'] = precision;
  return limits;
}

/** Sizes of symbolic dimensions, as JSON. */
export function sizesOf(value: RpcValue | undefined): Dims {
  const sizes = objectOf(value);
  for (const [name, size] of Object.entries(sizes)) if (!isCount(size)) throw unexpected(name);
  return sizes as Dims;
}

/** Results to keep and parameters to donate, by their names, as JSON; absent of older clients. */
export function namesOf(value: RpcValue | undefined): {
  readonly keep?: readonly string[];
  readonly donate?: readonly string[];
} {
  const { keep, donate } = value === undefined ? {} : objectOf(value);
  return { ...(keep !== undefined && { keep: textsOf(keep) }), donate: textsOf(donate ?? []) };
}

/** Checks a list of texts. */
export function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw unexpected('names');
}

/** A request to pause, go on, store or resume. `bytes` are those of a snapshot. */
export function controlRequest(sent: Sent, bytes: RpcValue | undefined): SentControl {
  const { kind } = sent;
  switch (kind) {
    case 'pause':
      return { kind, ...placeOf(sent) };
    case 'continue':
    case 'program':
      return { kind };
    case 'source': {
      const { kernel } = sent;
      if (typeof kernel !== 'string') throw unexpected('kernel');
      return { kind, kernel };
    }
    case 'snapshot': {
      const { names, note, pausing } = sent;
      const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string');
      if (!areNames || typeof note !== 'string') throw unexpected('names');
      return { kind, names, note, pausing: pausing === true };
    }
    case 'restore':
      return { kind, bytes: bytesOf(bytes) };
    case 'result': {
      if (!isCount(sent['index'])) throw unexpected('index');
      return { kind, index: sent['index'], keep: sent['keep'] === 'device' ? 'device' : 'host' };
    }
    case 'timeline': {
      const { functionName, runs } = sent;
      if (typeof functionName !== 'string') throw unexpected('functionName');
      if (!isCount(runs) || runs < 1 || runs > MOST_TIMELINE_RUNS) throw unexpected('runs');
      return { kind, functionName, runs };
    }
    case 'tune':
      return { kind, index: 0 };
    default:
      throw unexpected('kind');
  }
}

/** Numbers of constants in ascending order, as JSON: none twice. */
export function indicesOf(value: RpcValue | undefined): readonly number[] {
  const { indices } = objectOf(value);
  const isSorted =
    Array.isArray(indices) &&
    indices.every((index, i) => isCount(index) && (i === 0 || index > indices[i - 1]));
  if (isSorted) return indices;
  throw unexpected('indices');
}

/** Breakpoints of a debugging run. */
const MOST_BREAKPOINTS = 100;
/** Parts within parts of a value. */
const LONGEST_PATH = 1000;

/** The order for a debugging run, from its JSON. Throws for any other value. */
export function debugOrder(value: RpcValue | undefined): DebugOrder {
  const sent = objectOf(value, reviveNumbers);
  switch (sent['do']) {
    case 'start':
    case 'step':
    case 'stepOver':
    case 'stepOut':
    case 'stepBack':
    case 'continue':
    case 'pause':
    case 'memory':
      return { do: sent['do'] };
    case 'seek':
      // One that is no integer is refused where pages hear of it.
      if (typeof sent['executed'] !== 'number') throw unexpected('executed');
      return { do: 'seek', executed: sent['executed'] };
    case 'setBreakpoints': {
      const { breakpoints } = sent;
      const isList = Array.isArray(breakpoints) && breakpoints.length <= MOST_BREAKPOINTS;
      if (!isList) throw unexpected('breakpoints');
      return { do: 'setBreakpoints', breakpoints: breakpoints.map(breakpointOf) };
    }
    case 'registers':
      return { do: 'registers', frame: numberIn(sent, 'frame') };
    case 'value': {
      const { path } = sent;
      const isPath = Array.isArray(path) && path.length <= LONGEST_PATH;
      if (!isPath || !path.every((part) => typeof part === 'number')) throw unexpected('path');
      const [frame, register] = [numberIn(sent, 'frame'), numberIn(sent, 'register')];
      return { do: 'value', frame, register, path };
    }
    default:
      throw unexpected('do');
  }
}

function breakpointOf(value: unknown): Breakpoint {
  const { at, node, output, outputAbove } = Object(value) as Sent;
  if (typeof node === 'string') return { node };
  if (output === 'nan' || output === 'infinity') return { output };
  if (typeof outputAbove === 'number') return { outputAbove };
  const place = codePlace(at);
  if (place !== undefined) return { at: place };
  throw unexpected('breakpoint');
}

function numberIn(sent: Sent, name: string): number {
  const value = sent[name];
  if (typeof value === 'number') return value;
  throw unexpected(name);
}

function codePlace(at: unknown): CodePlace | undefined {
  const { function: name, instruction } = Object(at) as Sent;
  if (typeof name !== 'string' || !isCount(instruction)) return undefined;
  return { function: name, instruction };
}

function placeOf({ at, visit }: Sent) {
  if (visit !== undefined && !isCount(visit)) throw unexpected('visit');
  if (at === undefined) return { visit };
  const place = codePlace(at);
  if (place === undefined) throw unexpected('at');
  return { at: place, visit };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function unexpected(name: string) {
  return malformed(`a request with another ${name.slice(0, 100)} than pages send`);
}
