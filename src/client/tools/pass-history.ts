import { errorFromData, internalError, WorkerError } from '../../core/errors.ts';
import type { PassLine, PassStep } from '../../core/contracts/pass-step.ts';
import type { FromCompiler, ToCompiler } from '../../worker/compile/compile-protocol.ts';
import type { Dims } from '../../worker/protocol/dispatch-sizes.ts';
import { COMPILER_NAME } from '../../worker/protocol/session-service.ts';
import { startWorker } from '../start/start-worker.ts';
import { startSourceCompiler, workerFiles } from '../start/worker-files.ts';

/** How a model is compiled to see the program after each pass. */
export interface HistoryOptions {
  /** Numbers for symbolic dimensions. */
  readonly dims?: Dims | undefined;
  /** The name of a text in places. Default `program`. */
  readonly file?: string | undefined;
  /** The address of a model, beside which files with its tensors lie. */
  readonly url?: string | undefined;
  /** Called with how many passes are done, of all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

type Answer = Extract<FromCompiler, { readonly kind: 'passes' | 'pass' }>;

/** A compilation in a worker of its own, which lives until {@link close}. */
export class RemoteHistory {
  /** The passes in their order, behind the program as it came. */
  readonly steps: readonly PassStep[];
  readonly #compiler: Compiler;

  /**
   * Compiles an ONNX model, or a program in text form. Rejects as compiling does, and with WorkerError where the worker
   * cannot start.
   */
  static async open(
    model: Uint8Array | string,
    { dims = {}, file = 'program', url, onProgress }: HistoryOptions = {},
  ): Promise<RemoteHistory> {
    const compiler = new Compiler(onProgress);
    const files = workerFiles();
    try {
      const answer = await compiler.ask({ kind: 'passes', model, file, url, dims, files });
      if (answer.kind !== 'passes') throw internalError('lines before passes');
      return new RemoteHistory(answer.steps, compiler);
    } catch (error) {
      compiler.close();
      throw error;
    }
  }

  private constructor(steps: readonly PassStep[], compiler: Compiler) {
    this.steps = steps;
    this.#compiler = compiler;
  }

  /** The program behind a step, or else the lines that the step took away and added. */
  async lines(step: number, isWhole: boolean): Promise<readonly PassLine[]> {
    const answer = await this.#compiler.ask({ kind: 'pass', step, isWhole });
    if (answer.kind !== 'pass') throw internalError('passes a second time');
    return answer.lines;
  }

  /** Ends the worker; questions that wait reject with WorkerError. */
  close(): void {
    this.#compiler.close();
  }
}

/** The worker of one compilation. It answers one question after the other. */
class Compiler {
  readonly #worker: Worker;
  readonly #onProgress: HistoryOptions['onProgress'];
  #last: Promise<unknown> = Promise.resolve();
  #settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;

  constructor(onProgress: HistoryOptions['onProgress']) {
    this.#onProgress = onProgress;
    const files = workerFiles();
    this.#worker =
      files?.main === undefined ? startSourceCompiler() : startWorker(files.main, COMPILER_NAME);
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromCompiler>) =>
      this.#receive(data),
    );
    this.#worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.#end('a worker that ended, or that could not start');
    });
  }

  ask(question: ToCompiler): Promise<Answer> {
    const answer = this.#last.then(
      () =>
        new Promise<Answer>((resolve, reject) => {
          if (this.#failure !== undefined) throw this.#failure;
          this.#settle = { resolve, reject };
          this.#worker.postMessage(question);
        }),
    );
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  close(): void {
    this.#end('a compilation that was closed');
    this.#worker.terminate();
  }

  #receive(message: FromCompiler): void {
    if (message.kind === 'progress') this.#onProgress?.(message.done, message.total);
    else if (message.kind === 'failed') this.#settle?.reject(errorFromData(message.error));
    else if (message.kind === 'passes' || message.kind === 'pass') this.#settle?.resolve(message);
  }

  #end(got: string): void {
    this.#failure ??= new WorkerError({ where: 'passes', got, expected: 'an answer' });
    this.#settle?.reject(this.#failure);
  }
}
