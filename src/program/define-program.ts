import { ASYNC_DISPOSE } from '../core/async/dispose-symbols.ts';
import {
  checkOptions,
  fits,
  type OptionKind,
  type OptionKinds,
  requireKind,
} from '../core/check-options.ts';
import type { Executable } from '../bytecode/file/executable-file.ts';
import type { Module } from '../compiler/ir/expr.ts';
import { placeOf, within } from './call-site.ts';
import { ProgramCore, type ProgramOptions, type ProgramSource } from './program.ts';
import { RUNNER_OPTIONS } from './runners/runner.ts';
import { isLeafSpec, type Spec } from './data/value-spec.ts';
import type { InputFor, ResultOf, ValueOf } from './data/value-types.ts';

/**
 * A program. A call takes what its parameters say, numbers and nested arrays too, and gives its results, whose
 * elements `data` and `read` wait for. In the body of another program it is a call of a function.
 */
export interface Program<P extends Spec, R> {
  /** Throws ShapeError or UsageError, with the place of the call, for arguments that do not fit. */
  (args: InputFor<P>): R;
  /** The types of its parameters. */
  readonly params: P;
  /** The module that was written down: plain IR. */
  readonly module: Module;
  /** Compiles and loads it ahead of the first call. Rejects as `Session.load` does. */
  compile(): Promise<void>;
  /** The compiled program as text. */
  listing(): Promise<string>;
  /** The compiled program, such as for a `.weft` file: `(await f.toExecutable()).toBytes()`. */
  toExecutable(): Promise<Executable>;
  /** Frees the program, and the results of its runs. */
  dispose(): Promise<void>;
  /** Calls {@link dispose} at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void>;
}

const SOURCES = new WeakMap<object, ProgramSource>();

/** A program as it was given; undefined for any other function. */
export function sourceOf(fn: object): ProgramSource | undefined {
  return SOURCES.get(fn);
}

/** The function by which a body calls its own program. */
type Self<P extends Spec, S extends Spec> = (args: InputFor<P>) => ValueOf<S>;

/**
 * Writes a function down as a program of the IR:
 *
 * ```ts
 * const predict = program({ x: f32('n', 4), w: f32(4, 3) }, ({ x, w }) => softmax(x.matmul(w)));
 * const y = predict({ x: [[1, 2, 3, 4]], w });
 * await y.data();
 * ```
 *
 * The body runs once, when the program is first used, with arrays that stand for the parameters. Errors name the
 * line in it. The first call compiles. A program that calls itself says what it gives:
 * `program(params, result, (args, self) => …)`.
 */
export function program<const P extends Spec, const R>(
  params: P,
  body: (args: ValueOf<P>) => R,
  options?: ProgramOptions,
): Program<NoInfer<P>, ResultOf<NoInfer<R>>>;
export function program<const P extends Spec, const S extends Spec>(
  params: P,
  result: S,
  body: (args: ValueOf<P>, self: Self<P, S>) => InputFor<S>,
  options?: ProgramOptions,
): Program<NoInfer<P>, ValueOf<NoInfer<S>>>;
export function program(params: Spec, ...rest: readonly unknown[]): unknown {
  const at = typeof rest[0] === 'function' ? 0 : 1;
  within(program, () => checkProgram(params, rest, at), ['program', arguments, at + 3]);
  const body = rest[at] as ProgramSource['body'];
  const result = at === 0 ? undefined : (rest[0] as Spec);
  const core = new ProgramCore({ params, result, body, options: rest[at + 1] ?? {} });
  const call = (...args: readonly unknown[]): unknown =>
    within(call, () => core.call(args[0]), ['program', args, 1]);
  const dispose = (): Promise<void> => core.runner.dispose();
  const members = {
    params,
    async compile() {
      await core.runner.session();
    },
    async listing() {
      return (await core.toExecutable()).toText();
    },
    toExecutable: () => core.toExecutable(),
    dispose,
    [ASYNC_DISPOSE]: dispose,
  };
  SOURCES.set(call, core.source);
  Object.defineProperty(members, 'module', { enumerable: true, get: () => core.written.module });
  return Object.defineProperties(call, Object.getOwnPropertyDescriptors(members));
}

const TYPES: OptionKind = [
  'types such as f32("n", 4), or objects and lists of such',
  (value) =>
    isLeafSpec(value) ||
    ((fits('list', value) || fits('object', value)) &&
      Object.values(Object(value)).every((branch) => fits(TYPES, branch))),
];
const PROGRAM_OPTIONS: OptionKinds<ProgramOptions> = { name: 'text', ...RUNNER_OPTIONS };

function checkProgram(params: Spec, rest: readonly unknown[], at: number): void {
  const where = placeOf('program');
  requireKind(where, TYPES, ['parameters', params]);
  if (at === 1) requireKind(where, TYPES, ['the result', rest[0]]);
  requireKind(where, 'function', ['the body', rest[at]]);
  checkOptions<ProgramOptions>(where, rest[at + 1] ?? {}, PROGRAM_OPTIONS);
}
