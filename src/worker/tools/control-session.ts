import { internalError, UsageError } from '../../core/errors.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import { restoreSnapshot, type ResumedCall } from '../../runtime/snapshot/resume-snapshot.ts';
import { RunControl } from '../../runtime/snapshot/run-control.ts';
import { type HostStates, takeSnapshot } from '../../runtime/snapshot/take-snapshot.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { Value } from '../../runtime/values/value.ts';
import { openOpfs } from '../../snapshots/opfs-store.ts';
import { snapshotHash } from '../../snapshots/snapshot-hash.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { adoptBuffer, exposeTensor } from '../host/page-buffers.ts';
import type { ControlReply, ControlRequest } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from '../../bytecode/file/file-format.ts';
import { serializeHead } from '../../bytecode/file/serialize.ts';

const HASH_BYTE_LENGTH = 32;

/**
 * The `.weft` file of a program up to its data section. The hashes of its blocks are zeros: the weights may be on the
 * device only, and whoever reads a program without them has nothing to check.
 */
function programHead(program: ExecutableData): Uint8Array<ArrayBuffer> {
  const length = Math.ceil(program.dataByteLength / DEFAULT_BLOCK_BYTE_LENGTH);
  const hashes = Array.from({ length }, () => new Uint8Array(HASH_BYTE_LENGTH));
  return serializeHead(program, hashes, DEFAULT_BLOCK_BYTE_LENGTH).slice();
}

export interface ControlContext {
  /** Values of `request.args`, which live until the reply. */
  readonly args: readonly Value[];
  /** The same as they were given, also those that the machine makes values of. */
  readonly inputs: readonly HostInput[];
  readonly signal: AbortSignal;
  readonly states: HostStates | undefined;
}

type Request<Kind extends ControlRequest['kind']> = Extract<ControlRequest, { kind: Kind }>;

/** Runs of snapshots, until their results are asked for. */
const resumed = new WeakMap<HostedSession, (ResumedRun | undefined)[]>();

/** Snapshots that wait to be kept. */
const held = new WeakMap<HostedSession, Uint8Array<ArrayBuffer>>();

interface ResumedRun {
  readonly call: ResumedCall;
  readonly value: Promise<Value>;
}

/** Pauses, stores and resumes a session. A file of its own, loaded with the first request. */
export async function controlSession(
  hosted: HostedSession,
  request: ControlRequest,
  context: ControlContext,
): Promise<ControlReply> {
  const control = RunControl.of(hosted.machine);
  switch (request.kind) {
    case 'pause': {
      const { at, visit } = request;
      return reply({ calls: await control.pause({ at, visit, signal: context.signal }) });
    }
    case 'continue':
      control.continue();
      return reply({});
    case 'program':
      return reply({ results: [bytesResult('program', programHead(hosted.executable))] });
    case 'source': {
      const { kernelSource } = await import('./kernel-source.ts');
      return reply({ source: await kernelSource(hosted.machine, request.kernel) });
    }
    case 'snapshot':
      if (!request.pausing && !control.isPaused) throw notPaused();
      return snapshot(hosted, request, context);
    case 'keep':
      await keep(hosted, request.store);
      return reply({});
    case 'restore':
      return restore(hosted, request, context);
    case 'result':
      return reply({ results: await result(hosted, request, context) });
    case 'tune': {
      const { tuneSession } = await import('./tune-session.ts');
      return reply({ tuning: await tuneSession(hosted, request, context.signal) });
    }
    case 'ranges': {
      const { measureRanges } = await import('./verify-session.ts');
      return reply({ ranges: await measureRanges(hosted, request, context) });
    }
    case 'verify': {
      const { verifySession } = await import('./verify-session.ts');
      return reply({ verification: await verifySession(hosted, request, context) });
    }
    case 'trace': {
      const { traceSession } = await import('./trace-session.ts');
      return reply(await traceSession(hosted, request, context));
    }
    case 'timeline': {
      const { timelineSession } = await import('./timeline-session.ts');
      return reply({ timeline: await timelineSession(hosted, request, context) });
    }
    case 'prepare':
    case 'hold':
    case 'pixels':
    case 'drop': {
      const { answerPictures } = await import('../pictures/answer-pictures.ts');
      const owner = { key: hosted, hosted };
      return reply({ results: await answerPictures(owner, request, context.signal) });
    }
    case 'adopt':
      return reply({ results: [await adoptBuffer(hosted, request)] });
    case 'expose':
      return reply({ range: exposeTensor(context.args) });
    case 'draw': {
      const { drawTensor } = await import('../pictures/draw-tensor.ts');
      return reply({ bitmap: await drawTensor(hosted, request.elements, context.args) });
    }
    case 'debug': {
      const { holdDebugRun } = await import('./debug-session.ts');
      await holdDebugRun(hosted, request, context);
      return reply({});
    }
    case 'debug order': {
      const { orderDebugRun } = await import('./debug-session.ts');
      return reply(await orderDebugRun(hosted, request, context.signal));
    }
    default:
      return request satisfies never;
  }
}

function reply(parts: Partial<ControlReply>): ControlReply {
  return { calls: [], results: [], note: '', ...parts };
}

async function snapshot(
  hosted: HostedSession,
  { names, note, isHeld = false }: Request<'snapshot'>,
  { args, signal, states = {} }: ControlContext,
): Promise<ControlReply> {
  const roots = Object.fromEntries(names.map((name, index) => [name, args[index] ?? null]));
  const data = await takeSnapshot(hosted.machine, { roots, note, states, signal });
  if (isHeld) {
    held.set(hosted, data);
    return reply({ note: snapshotHash(data) });
  }
  return reply({ results: [bytesResult('snapshot', data)] });
}

function bytesResult(name: string, data: Uint8Array<ArrayBuffer>): WireResult {
  return { name, value: { kind: 'tensor', dtype: 'uint8', shape: [data.byteLength], data } };
}

/** Here and not in the page, whose thread would stand still for it. */
async function keep(hosted: HostedSession, store: string): Promise<void> {
  const bytes = held.get(hosted);
  if (bytes === undefined) throw internalError('no snapshot to keep');
  held.delete(hosted);
  await (await openOpfs(store)).save(bytes);
}

async function restore(
  hosted: HostedSession,
  { bytes }: Request<'restore'>,
  { states, signal }: ControlContext,
): Promise<ControlReply> {
  // The runs need the weights, though no call of the page goes with them.
  await hosted.shared?.hold(signal);
  const { machine, device } = hosted;
  const { calls, roots, note } = await restoreSnapshot(machine, bytes, { states });
  const runs = calls.map((call): ResumedRun => {
    // Counted among the device's work, though nobody has asked for the result yet.
    const value = device.share(() => withinTimeOf(hosted, call));
    value.catch(() => undefined);
    return { call, value };
  });
  resumed.set(hosted, runs);
  const results = await Promise.all(
    Object.entries(roots).map(
      async ([name, value]): Promise<WireResult> => ({ name, value: await hosted.handOver(value) }),
    ),
  );
  const places = calls.map(({ entry, at, depth }) => ({ entry, at, depth }));
  return { calls: places, results, note };
}

/** A run that goes on has the time of one that begins. */
function withinTimeOf(hosted: HostedSession, call: ResumedCall): Promise<Value> {
  const run = (ended: AbortSignal): Promise<Value> => {
    ended.addEventListener('abort', () => call.abort(ended.reason), { once: true });
    return call.result;
  };
  return withinRunTime(run, new AbortController().signal, hosted);
}

/** Aborted, it stops the run, as the signal of a run does. */
async function result(
  hosted: HostedSession,
  { index, keep }: Request<'result'>,
  { signal }: ControlContext,
): Promise<WireResult[]> {
  const runs = resumed.get(hosted) ?? [];
  const run = runs[index];
  if (run === undefined) throw takenBefore();
  runs[index] = undefined;
  const { call, value } = run;
  const abort = (): void => call.abort(new DOMException('The call was aborted.', 'AbortError'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const done = await value;
    return await hosted.device.share(() =>
      hosted.deliver({ functionName: call.entry, keep }, done),
    );
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function notPaused(): UsageError {
  return new UsageError({
    where: 'snapshot',
    got: 'a session that is not paused',
    expected: 'a paused session',
    remedy: 'Await session.pause() first; session.checkpointTo pauses for each save.',
  });
}

function takenBefore(): UsageError {
  return new UsageError({
    where: 'result of a resumed run',
    got: 'a result that was already requested',
    expected: 'one request for each run',
  });
}
