import { GPU_KIND, type OptionKinds, THREADS_KIND } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { moduleToJson } from '../../compiler/ir/json/json.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import { Session } from '../../client/session.ts';
import { LOAD_OPTIONS, type LoadOptions } from '../../client/session-options.ts';
import type { InputValue, OutputValue } from '../../client/values/session-value.ts';
import { addReader, type ArrayData } from '../array-state.ts';

/** Where programs run, and how: the options of `Session.load` that say so. */
export type RunnerOptions = Pick<
  LoadOptions,
  | 'device'
  | 'worker'
  | 'workerFiles'
  | 'workerTimeout'
  | 'gpu'
  | 'remote'
  | 'threads'
  | 'limits'
  | 'byteBudget'
  | 'compile'
  | 'functions'
  | 'compileLimits'
>;

export const RUNNER_OPTIONS: OptionKinds<RunnerOptions> = {
  device: LOAD_OPTIONS.device,
  worker: LOAD_OPTIONS.worker,
  workerFiles: LOAD_OPTIONS.workerFiles,
  workerTimeout: LOAD_OPTIONS.workerTimeout,
  gpu: GPU_KIND,
  remote: LOAD_OPTIONS.remote,
  threads: THREADS_KIND,
  limits: LOAD_OPTIONS.limits,
  byteBudget: LOAD_OPTIONS.byteBudget,
  compile: LOAD_OPTIONS.compile,
  functions: LOAD_OPTIONS.functions,
  compileLimits: LOAD_OPTIONS.compileLimits,
};

/** How often programs were compiled and run. */
export interface Counters {
  /** Programs that were compiled, those behind eager arrays included. */
  readonly compiled: number;
  /** Runs that began. */
  readonly runs: number;
}

/** The page sets them once, for all programs. */
let defaults: RunnerOptions = {};
const counts = { compiled: 0, runs: 0 };

/** Sets where what is compiled from now on runs, unless it has options of its own. */
export function setDefaults(options: RunnerOptions): void {
  defaults = options;
}

/** How often programs were compiled and run so far. */
export function counters(): Counters {
  return { ...counts };
}

/** An argument of a run: elements, or a value of data. */
export type Argument = ArrayData | { readonly value: Promise<OutputValue> };

/** Runners by the sessions that they opened. */
const RUNNERS = new WeakMap<object, Runner>();

/** A module that is compiled and loaded when it first runs. */
export class Runner {
  readonly #text: () => string;
  readonly #options: RunnerOptions | undefined;
  #session: Promise<Session> | undefined;
  /** Runs that are not over, and results that nobody has disposed of. */
  #held = 0;
  #isRetired = false;

  /** `text` gives the module as {@link moduleText} does. */
  constructor(text: () => string, options?: RunnerOptions) {
    this.#text = text;
    this.#options = options;
  }

  /** The session, which is loaded with the first call. */
  session(): Promise<Session> {
    this.#session ??= load(this.#text(), this.#options ?? defaults);
    return this.#session;
  }

  /** Runs `main`; its results stay on the device. Arguments are read when they are there. */
  run(args: readonly Argument[]): Promise<readonly OutputValue[]> {
    const done = this.#run(args);
    for (const arg of args) if ('readers' in arg) addReader(arg, done);
    return done;
  }

  async #run(args: readonly Argument[]): Promise<readonly OutputValue[]> {
    counts.runs++;
    this.#held++;
    try {
      const results = await this.#runHeld(args);
      this.#held += results.filter((result) => result instanceof DeviceTensor).length;
      return results;
    } finally {
      this.#release();
    }
  }

  async #runHeld(args: readonly Argument[]): Promise<readonly OutputValue[]> {
    const session = await this.session();
    RUNNERS.set(session, this);
    const fitting = await Promise.all(args.map(async (arg) => fit(arg, session)));
    const inputs = Object.fromEntries(
      session.inputs.map(({ name }, index) => [name, fitting[index] ?? 0]),
    );
    const outputs = await session.run<OutputValue>(inputs, { keep: 'device' } as object);
    // Keys of objects that are numbers come first, whatever their order.
    return session.outputs.map(({ name }) => outputs[name] ?? null);
  }

  /** Frees the program as soon as nobody has results of it any more. */
  retire(): void {
    this.#isRetired = true;
    if (this.#held === 0) this.#disposeInBackground();
  }

  /** Frees a result of a run. */
  static release(tensor: DeviceTensor): void {
    if (tensor.handle === undefined) return;
    tensor.dispose();
    const runner = RUNNERS.get(tensor.owner);
    if (runner !== undefined) runner.#release();
  }

  #release(): void {
    this.#held--;
    if (this.#isRetired && this.#held === 0) this.#disposeInBackground();
  }

  /** A program that failed to load was told of where it was run. */
  #disposeInBackground(): void {
    this.dispose().catch(() => undefined);
  }

  /** Frees the program and all its results. */
  async dispose(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await (await session)?.dispose();
  }
}

/** An argument as a session takes it: a tensor of another device goes through the page. */
async function fit(arg: Argument, session: Session): Promise<InputValue> {
  // A value of data can be an input again, as the run gave it.
  if (!('readers' in arg)) return (await arg.value) as InputValue;
  if (arg.device === undefined) {
    if (arg.host !== undefined) return arg.host;
    throw new UsageError('The array was disposed of.');
  }
  const tensor = await arg.device;
  const { owner } = tensor;
  const isThere = owner instanceof Session && owner.device.kind === session.device.kind;
  return isThere && session.accepts(owner) ? tensor : (arg.host ?? tensor.read());
}

async function load(text: string, options: RunnerOptions): Promise<Session> {
  counts.compiled++;
  return Session.load(new TextEncoder().encode(text), options);
}

export function moduleText(module: Module): string {
  return JSON.stringify(moduleToJson(module));
}

/** The same for modules that differ only in the lines that they were written in. */
export function moduleKey(module: Module): string {
  return JSON.stringify(moduleToJson(module), (key, value: unknown) =>
    key === 'span' ? undefined : value,
  );
}
