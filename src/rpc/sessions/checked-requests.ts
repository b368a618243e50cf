import { COMPILE_MODES, type CompileModeOption } from '../../core/compile-mode.ts';
import { PRECISIONS, type PrecisionOption } from '../../core/precision.ts';
import { MOST_TIMELINE_RUNS } from '../../core/run-timeline.ts';
import type { ControlRequest, Dims } from '../../worker/protocol.ts';
import { PROGRAM_NUMBERS, type RequestLimits } from '../../worker/within-ceilings.ts';
import { bytesOf, objectOf } from '../checked-values.ts';
import type { RpcValue } from '../rpc-value.ts';
import { malformed } from '../wire-values.ts';

// Requests of a session as its other side sent them. All throw ProtocolError for what no page sends.

type Sent = Readonly<Record<string, unknown>>;

/** Without the values that go with it. */
export type SentControl = ControlRequest extends infer Request
  ? Request extends ControlRequest
    ? Omit<Request, 'args'>
    : never
  : never;

/** Limits of a session. */
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

/** A list of texts. */
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

function placeOf({ at, visit }: Sent) {
  if (visit !== undefined && !isCount(visit)) throw unexpected('visit');
  if (at === undefined) return { visit };
  const { function: name, instruction } = Object(at) as Sent;
  if (typeof name !== 'string' || !isCount(instruction)) throw unexpected('at');
  return { at: { function: name, instruction }, visit };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function unexpected(name: string) {
  return malformed(`a request with another ${name.slice(0, 100)} than pages send`);
}
