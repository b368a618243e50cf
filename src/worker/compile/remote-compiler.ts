import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { compileLimitError } from '../../core/limits/compile-limits.ts';
import {
  abortError,
  errorFromData,
  errorToData,
  internalError,
  WorkerError,
} from '../../core/errors.ts';
import type { CompileContext } from './compile-context.ts';
import type { CompileOrder, FromCompiler, TextOrder, ToCompiler } from './compile-protocol.ts';
import type { WireSignature } from '../protocol/wire-value.ts';
import { type OwnThread, startOwnThread, type ThreadEvents } from '../devices/own-thread.ts';
import { COMPILER_NAME } from '../protocol/session-service.ts';

/**
 * The thread's file in Node; in the package, that of its entry. No bundler must take it for an
 * address of its own.
 */
const NODE_FILE: string = '../compile-thread-main.ts';

/** Starts a thread that compiles; undefined where there is none. */
function startCompileThread(events: ThreadEvents<FromCompiler>): OwnThread<ToCompiler> | undefined {
  return startOwnThread({ name: COMPILER_NAME, nodeFile: NODE_FILE }, events);
}

/** A program and its data, block by block. */
export interface CompiledModel {
  readonly program: ExecutableData;
  readonly blocks: AsyncIterable<DataBlock>;
}

type Answer = Extract<FromCompiler, { readonly kind: 'compiled' | 'block' }>;

/** A thread that has not said that it is there by then is not coming; none is started any more. */
const START_TIMEOUT_MS = 10_000;

/** A thread heeds a limit of time itself, unless it cannot. */
const GRACE_MS = 1000;

/** Compiles one model in a thread of its own, which ends with it. */
export class RemoteCompiler {
  static #isHopeless = false;
  /** Resolves to true once the thread runs, to false where none could be started. */
  readonly ready: Promise<boolean>;
  readonly #thread: OwnThread<ToCompiler> | undefined;
  #settleReady: (isReady: boolean) => void = () => undefined;
  #onProgress: CompileContext['onProgress'] = () => undefined;
  #onDownload: CompileContext['onDownload'];
  #askType: CompileContext['askType'];
  #place = 'compiler';
  /** The milliseconds that the caller allows. */
  #most = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;

  /**
   * Starts the thread, unless it would not know what the model is compiled with. {@link close} it, unless
   * it is used to the end.
   */
  constructor(knowsTables = true) {
    this.ready = new Promise((resolve) => {
      this.#settleReady = resolve;
    });
    const giveUp = (): void => {
      RemoteCompiler.#isHopeless = true;
      this.#settleReady(false);
    };
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    void this.ready.then(() => clearTimeout(timer));
    const events: ThreadEvents<FromCompiler> = {
      onMessage: (message) => this.#receive(message),
      onError: () => {
        this.#settleReady(false);
        const got = 'a compiler that ended, perhaps out of memory';
        this.#fail(new WorkerError({ where: this.#place, got, expected: 'an executable' }));
      },
    };
    this.#thread =
      RemoteCompiler.#isHopeless || !knowsTables ? undefined : startCompileThread(events);
    if (this.#thread === undefined) this.#settleReady(false);
  }

  /** Takes the bytes away. Rejects as compiling does, and with the signal's reason, which ends the thread. */
  async compile(
    order: CompileOrder | TextOrder,
    { signal, onProgress, onDownload, askType }: CompileContext,
  ): Promise<CompiledModel> {
    this.#onProgress = onProgress;
    this.#onDownload = onDownload;
    this.#askType = askType;
    const stop = (): void => {
      this.#fail(abortError(signal));
      this.close();
    };
    signal.addEventListener('abort', stop, { once: true });
    this.#most = order.compileLimits?.milliseconds ?? Infinity;
    // Files that the thread fetches take the time that they take.
    const isHere = 'bytes' in order;
    if (isHere) this.#limitTime();
    try {
      signal.throwIfAborted();
      const buffer = isHere ? order.bytes.buffer : undefined;
      const transfer = buffer instanceof ArrayBuffer ? [buffer] : [];
      this.#thread?.post({ kind: 'compile', order, files: globalThis.weftFiles }, transfer);
      const answer = await this.#answer();
      if (answer.kind !== 'compiled') throw internalError('a block before the program');
      return { program: answer.program, blocks: this.#blocks() };
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  close(): void {
    this.#thread?.terminate();
    this.#settleReady(false);
  }

  async *#blocks(): AsyncGenerator<DataBlock, void> {
    try {
      for (;;) {
        this.#thread?.post({ kind: 'next block' });
        const answer = await this.#answer();
        if (answer.kind !== 'block') throw internalError('a second program');
        if (answer.block === undefined) return;
        yield answer.block;
      }
    } finally {
      this.close();
    }
  }

  #answer(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) reject(this.#failure);
      this.#waiting = { resolve, reject };
    });
  }

  #receive(message: FromCompiler): void {
    switch (message.kind) {
      case 'ready':
        return this.#settleReady(true);
      case 'progress':
        this.#place = `compiler, after pass ${message.done} of ${message.total}`;
        if (this.#timer === undefined) this.#limitTime();
        return this.#onProgress(message.done, message.total);
      case 'download':
        return this.#onDownload?.(message.loaded, message.total);
      case 'type':
        return void this.#tellType(message.node);
      case 'place':
        this.#place = message.place;
        return;
      case 'failed':
        return this.#fail(errorFromData(message.error));
      case 'compiled':
      case 'block':
        return this.#waiting?.resolve(message);
      default:
        throw internalError(`an answer ${message.kind} to no question`);
    }
  }

  /** Asks the page; the thread does not work meanwhile. */
  async #tellType(node: WireSignature): Promise<void> {
    clearTimeout(this.#timer);
    try {
      if (this.#askType === undefined) throw internalError('a question that nobody answers');
      this.#thread?.post({ kind: 'type', outputs: await this.#askType(node) });
      this.#limitTime();
    } catch (error) {
      this.#thread?.post({ kind: 'no type', error: errorToData(error) });
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
  }

  /** Only the caller's own limit of time is one. */
  #limitTime(): void {
    const most = this.#most;
    if (most > MAX_TIMER_MS) return;
    this.#timer = setTimeout(() => {
      const reached = most + GRACE_MS;
      const where = this.#place;
      this.#fail(compileLimitError({ limit: 'milliseconds', reached, most, where }));
      this.close();
    }, most + GRACE_MS);
  }
}

/** Timers of more milliseconds fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1 - GRACE_MS;
