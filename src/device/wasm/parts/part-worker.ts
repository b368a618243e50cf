import type { StepConstant } from '../step-distributor.ts';
import type { WasmBuffer } from '../memory/wasm-memory.ts';
import {
  bytesOf,
  type FromPart,
  type PartRequest,
  type PartThread,
  type StartPart,
} from './part-protocol.ts';

/** Bytes that are kept at most. */
const MOST_BYTES = 2 ** 26;

/** Buffers that messages brought: to fill one again takes less time than to get new memory. */
class SpareBuffers {
  /** The buffers, the oldest first. */
  readonly #buffers: ArrayBuffer[] = [];
  #byteLength = 0;

  /** One of that length, if there is one. */
  find(byteLength: number): ArrayBuffer | undefined {
    const at = this.#buffers.findIndex((buffer) => buffer.byteLength === byteLength);
    if (at === -1) return undefined;
    this.#byteLength -= byteLength;
    return this.#buffers.splice(at, 1)[0];
  }

  /** A copy, in one of them where it fits. */
  copy(bytes: Uint8Array): ArrayBuffer {
    const buffer = this.find(bytes.byteLength) ?? new ArrayBuffer(bytes.byteLength);
    new Uint8Array(buffer).set(bytes);
    return buffer;
  }

  add(buffer: ArrayBuffer): void {
    this.#buffers.push(buffer);
    this.#byteLength += buffer.byteLength;
    while (this.#byteLength > MOST_BYTES)
      this.#byteLength -= this.#buffers.shift()?.byteLength ?? 0;
  }
}

/** Messages there and back by which it is measured how long they take: the shortest of some rounds. */
const PINGS = 5;
const ROUNDS = 4;

/** Modules that a thread has at a time. */
const MOST_MODULES = 32;

export interface PartWorkerOptions {
  readonly startPart: StartPart;
  /** Milliseconds in which a request is to be answered. */
  readonly patienceMs: number;
  /** Bytes of constants that a thread keeps. */
  readonly keptByteBudget: number;
  /** A thread answers no more, or could not be started. */
  readonly onBreak: () => void;
  /** Does something in order with launches. */
  readonly submit: (task: () => void) => void;
}

/** Bytes of a constant that a thread keeps. */
interface Kept {
  readonly id: number;
  readonly byteLength: number;
}

interface Pending {
  readonly resolve: (bytes: ArrayBuffer | undefined) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** A thread that has a memory of its own, as the thread sees it that gives it work. */
export class PartWorker {
  isReady = false;
  /** Milliseconds of a message there and back. */
  messagesMs = Number.POSITIVE_INFINITY;
  readonly spares = new SpareBuffers();
  readonly #options: PartWorkerOptions;
  readonly #thread: PartThread | undefined;
  readonly #pending = new Map<number, Pending>();
  /** Constants that the thread has, by their buffers. */
  readonly #kept = new WeakMap<WasmBuffer, Map<string, Kept>>();
  /** Those that it has, the one that was used last at the end. */
  readonly #modules = new Map<WebAssembly.Module, number>();
  #keptByteLength = 0;
  #nextId = 0;
  #pings = 0;
  #pingedAt = 0;

  constructor(options: PartWorkerOptions) {
    this.#options = options;
    this.#thread = options.startPart({
      onMessage: (message) => this.#take(message),
      onError: options.onBreak,
    });
    if (this.#thread === undefined) options.onBreak();
  }

  /** The bytes that units write; undefined where the thread cannot do them. */
  run(
    request: Omit<PartRequest, 'kind' | 'id' | 'module'>,
    module: WebAssembly.Module,
  ): Promise<ArrayBuffer | undefined> {
    const { patienceMs, onBreak } = this.#options;
    const id = this.#nextId++;
    const bytes = bytesOf(request.operands);
    const transfer = request.room ? [...bytes, request.room] : bytes;
    return new Promise((resolve) => {
      this.#pending.set(id, { resolve, timer: setTimeout(onBreak, patienceMs) });
      try {
        this.#thread?.post({ ...request, kind: 'run', id, module: this.#load(module) }, transfer);
      } catch {
        onBreak();
      }
    });
  }

  /**
   * The number of what a thread keeps of a constant, which it is sent if it has not got it. Undefined
   * where that would be too much.
   */
  keep({ buffer, name }: StepConstant, bytes: () => ArrayBuffer): number | undefined {
    const ofBuffer = this.#kept.get(buffer) ?? this.#listen(buffer);
    const known = ofBuffer.get(name);
    if (known !== undefined) return known.id;
    const sent = bytes();
    const { byteLength } = sent;
    if (this.#keptByteLength + byteLength > this.#options.keptByteBudget) return undefined;
    this.#keptByteLength += byteLength;
    const id = this.#nextId++;
    ofBuffer.set(name, { id, byteLength });
    this.#thread?.post({ kind: 'keep', id, bytes: sent }, [sent]);
    return id;
  }

  drop({ buffer, name }: StepConstant): void {
    const ofBuffer = this.#kept.get(buffer);
    const kept = ofBuffer?.get(name);
    if (kept === undefined) return;
    ofBuffer?.delete(name);
    this.#forget(kept);
  }

  /** Ends the thread. Nobody waits for it any more. */
  terminate(): void {
    this.isReady = false;
    this.#thread?.terminate();
    for (const id of this.#pending.keys()) this.#resolve(id, undefined);
  }

  #take(message: FromPart): void {
    if (message.kind === 'ready') {
      this.#ping();
      return;
    }
    for (const spare of message.spares) this.spares.add(spare);
    this.#resolve(message.id, message.bytes);
  }

  /** The next one, until it is known how long they take. */
  #ping(): void {
    const now = performance.now();
    if (this.#pings % PINGS === 0) {
      if (this.#pings > 0)
        this.messagesMs = Math.min(this.messagesMs, (now - this.#pingedAt) / PINGS);
      this.#pingedAt = now;
    }
    if (this.#pings++ < PINGS * ROUNDS) this.#thread?.post({ kind: 'ping' });
    else this.isReady = true;
  }

  #resolve(id: number, bytes: ArrayBuffer | undefined): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    pending.resolve(bytes);
  }

  #load(module: WebAssembly.Module): number {
    const known = this.#modules.get(module);
    const id = known ?? this.#nextId++;
    this.#modules.delete(module);
    this.#modules.set(module, id);
    if (known !== undefined) return id;
    this.#thread?.post({ kind: 'load', id, module });
    const [oldest] = this.#modules;
    if (this.#modules.size > MOST_MODULES && oldest !== undefined) {
      this.#modules.delete(oldest[0]);
      this.#thread?.post({ kind: 'unload', id: oldest[1] });
    }
    return id;
  }

  #listen(buffer: WasmBuffer): Map<string, Kept> {
    const made = new Map<string, Kept>();
    this.#kept.set(buffer, made);
    buffer.onDestroy.add(() =>
      this.#options.submit(() => {
        for (const kept of made.values()) this.#forget(kept);
        made.clear();
      }),
    );
    return made;
  }

  #forget({ id, byteLength }: Kept): void {
    this.#keptByteLength -= byteLength;
    this.#thread?.post({ kind: 'drop', id });
  }
}
