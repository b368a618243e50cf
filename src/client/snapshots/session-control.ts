import { internalError, UsageError } from '../../core/errors.ts';
import { OpfsStore } from '../../snapshots/opfs-store.ts';
import { snapshotHash } from '../../snapshots/snapshot-hash.ts';
import type { SnapshotStore } from '../../snapshots/store-types.ts';
import type { ControlReply, ControlRequest } from '../../worker/protocol/control-request.ts';
import type { WireValue } from '../../worker/protocol/wire-value.ts';
import { checkOptions, requireBytes, type OptionKinds } from '../../core/check-options.ts';
import { DeviceTensor } from '../values/device-tensor.ts';
import { Tensor } from '../values/tensor.ts';
import { type FunctionOwner, fromWireWithFunctions } from '../values/program-function.ts';
import type { OutputValue } from '../values/session-value.ts';
import { handlesIn } from '../values/wire-values.ts';
import type {
  ResumedRun,
  ResumedState,
  ResultOptions,
  SnapshotOptions,
} from './control-options.ts';

export interface ControlledSession extends FunctionOwner {
  pause(): Promise<unknown>;
  continue(): Promise<void>;
  /** Aborted when the session is disposed of. */
  readonly closed: AbortSignal;
  control(
    request: ControlRequest,
    options?: {
      readonly signal?: AbortSignal | undefined;
      readonly discard?: (late: ControlReply) => void;
    },
  ): Promise<ControlReply>;
}

const SNAPSHOT_OPTIONS: OptionKinds<SnapshotOptions> = {
  tensors: 'object',
  note: 'text',
  signal: 'signal',
};

/** See `Session.snapshot`. */
export async function takeSnapshot(
  session: ControlledSession,
  options: SnapshotOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return bytesIn(await askForSnapshot(session, options, { pausing: false }));
}

/**
 * Pauses a session for a snapshot and saves it, but for one that has the hash `unless`. Resolves to
 * its hash. A snapshot that the worker can save itself does not come to the page.
 */
export async function keepSnapshot(
  session: ControlledSession,
  options: SnapshotOptions,
  { store, unless }: { readonly store: SnapshotStore; readonly unless: string },
): Promise<string> {
  const isHeld = store instanceof OpfsStore;
  const reply = await askForSnapshot(session, options, { pausing: true, isHeld });
  // A remote session sends the snapshot in any case: only a worker holds it for its page.
  if (isHeld && reply.results.length === 0) {
    const hash = reply.note;
    // Without a signal: what is begun is done.
    if (hash !== unless) await session.control({ kind: 'keep', store: store.name, args: [] });
    return hash;
  }
  const bytes = bytesIn(reply);
  const hash = snapshotHash(bytes);
  if (hash !== unless) await store.save(bytes);
  return hash;
}

async function askForSnapshot(
  session: ControlledSession,
  options: SnapshotOptions,
  how: { readonly pausing: boolean; readonly isHeld?: boolean },
): Promise<ControlReply> {
  checkOptions('snapshot', options, SNAPSHOT_OPTIONS);
  const { tensors = {}, note = '', signal } = options;
  signal?.throwIfAborted();
  const names = Object.keys(tensors);
  const values = Object.values(tensors);
  for (const [index, value] of values.entries()) {
    if (!isUsable(value, session)) throw notStorable(names[index] ?? '', value);
  }
  const args = values.map(toStored);
  return session.control({ kind: 'snapshot', names, note, ...how, args }, { signal });
}

function bytesIn({ results }: ControlReply): Uint8Array<ArrayBuffer> {
  const value = results[0]?.value;
  if (value?.kind === 'tensor' && value.data instanceof Uint8Array) {
    return value.data as Uint8Array<ArrayBuffer>;
  }
  throw internalError('a snapshot without bytes');
}

function toStored(value: Tensor | DeviceTensor): WireValue {
  const { dtype, shape } = value;
  if (value instanceof Tensor) return { kind: 'tensor', dtype, shape, data: value.data.slice() };
  return { kind: 'handle', handle: value.handle ?? -1, dtype, shape };
}

function isUsable(value: unknown, session: FunctionOwner): boolean {
  if (value instanceof DeviceTensor) return value.owner === session && value.handle !== undefined;
  return value instanceof Tensor;
}

function notStorable(name: string, value: unknown): UsageError {
  const isHandle = value instanceof DeviceTensor;
  return new UsageError({
    where: `snapshot, tensor ${name}`,
    got: isHandle ? 'a disposed handle or one of another session' : typeof value,
    expected: 'a Tensor, or a live DeviceTensor of this session',
  });
}

/** Puts a snapshot into a session that has just been loaded. */
export async function restore(
  session: ControlledSession,
  given: Uint8Array | ArrayBuffer,
  {
    signal,
    paused = false,
  }: { readonly signal?: AbortSignal | undefined; readonly paused?: boolean | undefined },
): Promise<ResumedState> {
  const bytes = given instanceof ArrayBuffer ? new Uint8Array(given) : given;
  requireBytes('Session.resume', bytes);
  if (paused) await session.pause();
  const reply = await session.control({ kind: 'restore', bytes, args: [] }, { signal });
  const runs = reply.calls.map(
    (call, index): ResumedRun => ({
      ...call,
      result: (options?: ResultOptions) =>
        resultOf(session, index, options) as Promise<Record<string, never>>,
    }),
  );
  return { runs, tensors: fromWireWithFunctions(reply.results, session), note: reply.note };
}

async function resultOf(
  session: ControlledSession,
  index: number,
  { signal, keep = 'host' }: ResultOptions = {},
): Promise<Record<string, OutputValue>> {
  signal?.throwIfAborted();
  const { results } = await session.control(
    { kind: 'result', index, keep, args: [] },
    {
      signal,
      discard: (late) => {
        for (const handle of handlesIn(late.results)) session.releaseHandle(handle);
      },
    },
  );
  return fromWireWithFunctions(results, session);
}

/** See `Session.pauseWhenHidden`. */
export function pauseWhenHidden(
  session: ControlledSession,
  options: { readonly signal?: AbortSignal },
): void {
  checkOptions('pauseWhenHidden', options, { signal: 'signal' });
  const { signal } = options;
  signal?.throwIfAborted();
  const page = pageOf('pauseWhenHidden');
  const end = signal === undefined ? session.closed : AbortSignal.any([signal, session.closed]);
  let isPaused = false;
  const follow = (): void => {
    const shall = page.visibilityState === 'hidden' && !end.aborted;
    if (shall === isPaused) return;
    isPaused = shall;
    // It fails when the session is over, or goes on before it stood still.
    (shall ? session.pause() : session.continue()).catch(() => undefined);
  };
  page.addEventListener('visibilitychange', follow, { signal: end });
  end.addEventListener('abort', follow, { once: true });
  follow();
}

/** The document. Throws UsageError where there is none. */
export function pageOf(where: string): Document {
  const { document: page } = globalThis as { document?: Document };
  if (page !== undefined) return page;
  throw new UsageError({
    where,
    got: 'no document, as in a worker or in Node',
    expected: 'a page that can be hidden',
    remedy: 'Call session.pause and session.continue instead.',
  });
}
