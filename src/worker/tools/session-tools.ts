import { internalError, UsageError, UnsupportedError } from '../../core/errors.ts';
import { withinRunTime } from '../../core/async/within-run-time.ts';
import { restoreSnapshot, type ResumedCall } from '../../runtime/snapshot/resume-snapshot.ts';
import { RunControl } from '../../runtime/snapshot/run-control.ts';
import { takeSnapshot } from '../../runtime/snapshot/take-snapshot.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import { isValue, type Value, StorageValue, TensorValue } from '../../runtime/values/value.ts';
import { openOpfs } from '../../snapshots/opfs-store.ts';
import { snapshotHash } from '../../snapshots/snapshot-hash.ts';
import type { HostedSession, HostedTools, RequestContext } from '../host/hosted-session.ts';
import type { ControlReply, ControlRequest, GpuRange } from '../protocol/control-request.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from '../../bytecode/file/file-format.ts';
import { serializeHead } from '../../bytecode/file/serialize.ts';
import { handOver } from './hand-over.ts';
import type { ToolContext, ToolReply } from './tool.ts';
import { isWatching, OpenTools, type ToolName } from './tools.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/element-count.ts';

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

type Request<Kind extends ControlRequest['kind']> = Extract<ControlRequest, { kind: Kind }>;

interface ResumedRun {
  readonly call: ResumedCall;
  readonly value: Promise<Value>;
}

/** Pauses, stores and resumes a session, and looks inside it. A file of its own, loaded with the first request. */
export class SessionTools implements HostedTools {
  readonly #hosted: HostedSession;
  readonly #tools: OpenTools;
  /** Runs of the snapshot that was restored, until their results are asked for. */
  #resumed: (ResumedRun | undefined)[] = [];
  /** A snapshot that waits to be kept. */
  #held: Uint8Array<ArrayBuffer> | undefined;

  constructor(hosted: HostedSession) {
    this.#hosted = hosted;
    this.#tools = new OpenTools(hosted);
  }

  async answer(
    request: ControlRequest,
    inputs: readonly HostInput[],
    given: RequestContext,
  ): Promise<ControlReply> {
    const hosted = this.#hosted;
    const args = inputs.map((input) => (isValue(input) ? input : null));
    const context = { ...given, inputs, args, wires: request.args };
    const control = RunControl.of(hosted.machine);
    switch (request.kind) {
      case 'tool':
        return reply(await this.#ask(request, context));
      case 'pause': {
        const { at, visit } = request;
        return reply({ calls: await control.pause({ at, visit, signal: context.signal }) });
      }
      case 'continue':
        control.continue();
        return reply({});
      case 'program':
        return reply({ results: [bytesResult('program', programHead(hosted.machine.executable))] });
      case 'snapshot':
        if (!request.pausing && !control.isPaused) throw notPaused();
        return this.#snapshot(request, context);
      case 'keep':
        await this.#keep(request.store);
        return reply({});
      case 'restore':
        return this.#restore(request, context);
      case 'result':
        return reply({ results: await this.#result(request, context) });
      case 'prepare':
      case 'sample':
      case 'hold':
      case 'pixels':
      case 'drop':
        throw internalError('a request about pictures');
      case 'adopt':
        return reply({ results: [await adoptBuffer(hosted, request)] });
      case 'expose':
        return reply({ range: exposeTensor(args) });
      case 'draw': {
        const { drawTensor } = await import('../pictures/draw-tensor.ts');
        return reply({ bitmap: await drawTensor(hosted, request.elements, args) });
      }
      default:
        return request satisfies never;
    }
  }

  async #ask(
    { tool, request }: Request<'tool'>,
    context: ToolContext,
  ): Promise<ToolReply<unknown>> {
    const name = tool as ToolName;
    if (!isWatching(name)) return this.#tools.ask(name, request, context);
    const hosted = this.#hosted;
    await hosted.shared?.hold(context.signal);
    const { watchedSession } = await import('./watched-session.ts');
    return this.#tools.ask(name, request, watchedSession(hosted, context));
  }

  async #snapshot(
    { names, note, isHeld = false }: Request<'snapshot'>,
    { args, signal, states = {} }: ToolContext,
  ): Promise<ControlReply> {
    const roots = Object.fromEntries(names.map((name, index) => [name, args[index] ?? null]));
    const data = await takeSnapshot(this.#hosted.machine, { roots, note, states, signal });
    if (!isHeld) return reply({ results: [bytesResult('snapshot', data)] });
    this.#held = data;
    return reply({ note: snapshotHash(data) });
  }

  /** Here and not in the page, whose thread would stand still for it. */
  async #keep(store: string): Promise<void> {
    const bytes = this.#held;
    if (bytes === undefined) throw internalError('no snapshot to keep');
    this.#held = undefined;
    await (await openOpfs(store)).save(bytes);
  }

  async #restore(
    { bytes }: Request<'restore'>,
    { states, signal }: ToolContext,
  ): Promise<ControlReply> {
    const hosted = this.#hosted;
    // The runs need the weights, though no call of the page goes with them.
    await hosted.shared?.hold(signal);
    const { machine, device } = hosted;
    const { calls, roots, note } = await restoreSnapshot(machine, bytes, { states });
    this.#resumed = calls.map((call): ResumedRun => {
      // Counted among the device's work, though nobody has asked for the result yet.
      const value = device.share(() => withinTimeOf(hosted, call));
      value.catch(() => undefined);
      return { call, value };
    });
    const results = await Promise.all(
      Object.entries(roots).map(
        async ([name, value]): Promise<WireResult> => ({
          name,
          value: await handOver(hosted, value),
        }),
      ),
    );
    const places = calls.map(({ entry, at, depth }) => ({ entry, at, depth }));
    return { calls: places, results, note };
  }

  /** Aborted, it stops the run, as the signal of a run does. */
  async #result(
    { index, keep }: Request<'result'>,
    { signal }: ToolContext,
  ): Promise<readonly WireResult[]> {
    const hosted = this.#hosted;
    const run = this.#resumed[index];
    if (run === undefined) throw takenBefore();
    this.#resumed[index] = undefined;
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
}

function reply(parts: Partial<ControlReply>): ControlReply {
  return { calls: [], results: [], note: '', ...parts };
}

function bytesResult(name: string, data: Uint8Array<ArrayBuffer>): WireResult {
  return { name, value: { kind: 'tensor', dtype: 'uint8', shape: [data.byteLength], data } };
}

/** A run that goes on has the time of one that begins. */
function withinTimeOf(hosted: HostedSession, call: ResumedCall): Promise<Value> {
  const run = (ended: AbortSignal): Promise<Value> => {
    ended.addEventListener('abort', () => call.abort(ended.reason), { once: true });
    return call.result;
  };
  return withinRunTime(run, new AbortController().signal, hosted);
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

/** A tensor of a buffer of the page's on the device that it brought. Rejects with UsageError for a buffer that does not fit. */
async function adoptBuffer(
  hosted: HostedSession,
  { buffer: pageBuffer, byteOffset, dtype, shape }: Extract<ControlRequest, { kind: 'adopt' }>,
): Promise<WireResult> {
  const { device } = hosted.machine.internals().state.allocator(0);
  const byteLength = storageByteLength(dtype, elementCount(shape));
  const buffer = await device.page?.adopt(pageBuffer, { byteOffset, byteLength });
  if (buffer === undefined) throw notThere('fromGpuBuffer', device.info.name);
  const place = { device, buffer, byteOffset };
  const storage = new StorageValue({ reclaim: () => buffer.destroy() }, place, byteLength);
  const tensor = new TensorValue(storage, { byteOffset, dtype, shape });
  hosted.machine.retain(tensor);
  return { name: 'tensor', value: await handOver(hosted, tensor) };
}

/** Where a tensor of a session lies on the device that the page brought. Throws UnsupportedError for one that lies elsewhere. */
function exposeTensor([tensor]: readonly Value[]): GpuRange {
  if (!(tensor instanceof TensorValue) || tensor.layout !== '') {
    throw new UsageError({ where: 'gpuBuffer', got: 'no tensor', expected: 'one without gaps' });
  }
  const { device } = tensor.storage;
  const buffer = device.page?.expose(tensor.buffer);
  if (buffer === undefined) throw notThere('gpuBuffer', device.info.name);
  const { byteOffset, byteLength } = tensor;
  return { buffer, byteOffset, byteLength };
}

function notThere(where: string, device: string): UnsupportedError {
  return new UnsupportedError({
    where,
    got: `a tensor on ${device}`,
    expected: 'one on a device of the page',
    remedy:
      "Load the session with { worker: false, device: 'webgpu', gpu: device }, or read the tensor.",
  });
}
