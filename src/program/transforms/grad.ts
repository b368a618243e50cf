import { checkOptions, either, listOf, type OptionKinds } from '../../core/check-options.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import {
  call as callOf,
  callFunction,
  constant,
  gradient,
  projection,
  tuple,
  vjp,
} from '../../compiler/ir/build.ts';
import { cotangentType } from '../../compiler/ir/cotangent-type.ts';
import type { Expr, Module } from '../../compiler/ir/expr.ts';
import { formatType, type Type } from '../../compiler/ir/type.ts';
import { isFloat } from '../../ops/elementwise/number-dtypes.ts';
import { callSite, placeOf, siteOr, within } from '../call-site.ts';
import type { Program } from '../define-program.ts';
import type { NdArray } from '../nd-array.ts';
import type { Frame } from '../trace.ts';
import type { Spec } from '../data/value-spec.ts';
import type { Like, ResultOf, ValueOf } from '../data/value-types.ts';
import { exprsOf, unbundle, valueOf, type WrittenLeaf } from '../values.ts';
import { requireDerivatives, writeFunction, type WrittenFunction } from './write-function.ts';
import { type AnyFunction, mapArguments } from './function-arguments.ts';
import { transformed } from './transform.ts';

/** Which derivatives are wanted. */
export interface GradOptions {
  /** The numbers of the arguments, from 0. Default 0, the first one. */
  readonly argnums?: number | readonly number[];
  /** Instead: names of fields of the first argument, which is an object, as that of a program is. */
  readonly argnames?: string | readonly string[];
  /** The function gives `[value, others]`, of which only the value is differentiated. Default false. */
  readonly hasAux?: boolean;
}

/** Derivatives in the form of the arguments: of a list of arguments a list, of names an object. */
type Derivatives<A, O> = O extends { readonly argnames: infer N }
  ? A extends readonly [infer First, ...unknown[]]
    ? N extends readonly string[]
      ? { readonly [K in N[number]]: K extends keyof First ? ResultOf<First[K]> : never }
      : N extends keyof First
        ? ResultOf<First[N]>
        : never
    : never
  : O extends { readonly argnums: infer N }
    ? N extends readonly number[]
      ? { readonly [I in keyof N]: N[I] extends keyof A ? ResultOf<A[N[I]]> : never }
      : N extends keyof A
        ? ResultOf<A[N]>
        : never
    : A extends readonly [infer First, ...unknown[]]
      ? ResultOf<First>
      : never;

/** The second result of the function, for `hasAux`. */
type AuxOf<R> = R extends readonly [unknown, infer Aux] ? ResultOf<Aux> : never;

type Gradients<A, R, O> = O extends { readonly hasAux: true }
  ? [Derivatives<A, O>, AuxOf<R>]
  : Derivatives<A, O>;

type ValueAndGradients<A, R, O> = O extends { readonly hasAux: true }
  ? [[NdArray, AuxOf<R>], Derivatives<A, O>]
  : [NdArray, Derivatives<A, O>];

/** The gradient of a function: of a program a program. */
type GradOf<F, O> = F extends {
  readonly params: infer P extends Spec;
  readonly module: Module;
}
  ? Program<P, Gradients<readonly [ValueOf<P>], ReturnOf<F>, O>>
  : F extends (...args: infer A) => infer R
    ? (...args: ArgumentsLike<A>) => Gradients<A, R, O>
    : never;

/** A function, or a program, that gives a value and its gradient. */
type ValueAndGradOf<F, O> = F extends {
  readonly params: infer P extends Spec;
  readonly module: Module;
}
  ? Program<P, ValueAndGradients<readonly [ValueOf<P>], ReturnOf<F>, O>>
  : F extends (...args: infer A) => infer R
    ? (...args: ArgumentsLike<A>) => ValueAndGradients<A, R, O>
    : never;

type ReturnOf<F> = F extends (...args: never[]) => infer R ? R : never;

/** Arguments of a function as a caller may give them: numbers for arrays, too. */
export type ArgumentsLike<A extends readonly unknown[]> = { [K in keyof A]: Like<A[K]> };

/**
 * The function that computes the gradient of another, whose result is a float of rank 0, with respect to its first
 * argument or those that are named: objects and arrays of the same form. Of a program it is a program.
 *
 * ```ts
 * const step = program({ w: f32(4), x: f32('n', 4) }, ({ w, x }) => w.sub(grad(loss)(w, x).mul(0.1)));
 * ```
 *
 * Throws UsageError for arguments without derivatives, ShapeError for another result.
 */
export function grad<F extends AnyFunction, const O extends GradOptions = object>(
  fn: F,
  options?: O,
): GradOf<F, O>;
export function grad(fn: AnyFunction, options: GradOptions = {}): unknown {
  return within(grad, () => {
    checkGrad('grad', options);
    return transformed('grad', fn, (frame, args) => {
      const { gradients, aux } = derivatives(frame, { call: fn, args, options });
      return options.hasAux === true ? [gradients, aux] : gradients;
    });
  }, ['grad', arguments, 2]);
}

/**
 * As {@link grad}, with the value: `[value, gradient]`; with `hasAux`, `[[value, others], gradient]`.
 */
export function valueAndGrad<F extends AnyFunction, const O extends GradOptions = object>(
  fn: F,
  options?: O,
): ValueAndGradOf<F, O>;
export function valueAndGrad(fn: AnyFunction, options: GradOptions = {}): unknown {
  return within(valueAndGrad, () => {
    checkGrad('valueAndGrad', options);
    return transformed('value_and_grad', fn, (frame, args) => {
      const { value, gradients, aux } = derivatives(frame, { call: fn, args, options });
      return [options.hasAux === true ? [value, aux] : value, gradients];
    });
  }, ['valueAndGrad', arguments, 2]);
}

const GRAD_OPTIONS: OptionKinds<GradOptions> = {
  argnums: either('count from 0', listOf('count from 0')),
  argnames: either('text', 'names'),
  hasAux: 'boolean',
};

function checkGrad(name: string, options: GradOptions): void {
  checkOptions<GradOptions>(placeOf(name), options, GRAD_OPTIONS);
  if (options.argnums === undefined || options.argnames === undefined) return;
  throw new UsageError({
    where: placeOf(name)(),
    got: 'argnums and argnames',
    expected: 'one of them',
  });
}

interface Differentiated {
  readonly call: AnyFunction;
  readonly args: readonly unknown[];
  readonly options: GradOptions;
}

function derivatives(frame: Frame, { call, args, options }: Differentiated) {
  const chosen = choose(args, options);
  const written = writeFunction(frame, { call, args }, (leaf) => {
    if (!chosen.paths.some((path) => leaf.path === path || leaf.path.startsWith(`${path}.`))) {
      return undefined;
    }
    requireDerivatives(leaf, 'grad');
    return leaf.type;
  });
  requireScalar(written.leaves[0]);
  const { value, cotangents, aux } =
    options.hasAux === true ? withOthers(frame, written) : withoutOthers(frame, written);
  let next = 0;
  const all = mapArguments(args, (_, path) => {
    const leaf = written.given[next];
    if (leaf === undefined || leaf.path !== path) return undefined;
    return valueOf(frame, projection(cotangents, next++), leaf);
  });
  return { value, aux, gradients: chosen.pick(all) };
}

function withoutOthers(frame: Frame, { fn, given, leaves }: WrittenFunction) {
  const [leaf, other] = leaves;
  if (leaf === undefined || other !== undefined) throw wrongResult(typeText(leaves));
  const made = callFunction(gradient(fn), exprsOf(given), callSite());
  const value = valueOf(frame, projection(made, 0), leaf);
  return { value, cotangents: projection(made, 1), aux: undefined };
}

function withOthers(frame: Frame, { fn, given, leaves, returned }: WrittenFunction) {
  const [leaf] = leaves;
  if (leaf === undefined || !Array.isArray(returned) || returned.length !== 2) {
    throw wrongResult(typeText(leaves), '[value, others], since hasAux is true');
  }
  const one = constant(HostTensor.from('float32', [], [1]));
  const dtype = leaf.type.kind === 'tensor' ? leaf.type.dtype : 'float32';
  const first = dtype === 'float32' ? one : callOf('cast', [one], { to: dtype });
  const zeros = leaves.slice(1).map(({ type }) => zeroOf(cotangentType(type)));
  const seed = leaves.length === 1 ? first : tuple([first, ...zeros]);
  const made = callFunction(vjp(fn), [...exprsOf(given), seed], callSite());
  const result = projection(made, 0);
  const [value, aux] = unbundle(frame, result, { tree: returned, leaves }) as [unknown, unknown];
  return { value, cotangents: projection(made, 1), aux };
}

/** A cotangent that adds nothing. Throws UsageError for that of data. */
function zeroOf(type: Type): Expr {
  if (type.kind === 'tuple') return tuple([]);
  if (type.kind === 'tensor') {
    return callOf('full', [], { shape: type.shape, value: 0, dtype: type.dtype });
  }
  throw new UsageError({
    where: siteOr('grad'),
    got: `${formatType(type)} beside the value`,
    expected: 'arrays',
  });
}

interface Chosen {
  /** Paths of the arguments whose gradients are wanted. */
  readonly paths: readonly string[];
  readonly pick: (args: readonly unknown[]) => unknown;
}

function choose(args: readonly unknown[], { argnums, argnames }: GradOptions): Chosen {
  if (argnames === undefined) {
    const numbers = typeof argnums === 'object' ? argnums : [argnums ?? 0];
    for (const number of numbers) {
      if (number in args) continue;
      const count = args.length;
      throw wrongArgument(
        `argument ${number}`,
        count < 2 ? (count === 1 ? 'only argument 0' : 'an argument') : `0 to ${count - 1}`,
      );
    }
    return {
      paths: numbers.map(String),
      pick: (all) =>
        typeof argnums === 'object' ? argnums.map((number) => all[number]) : all[argnums ?? 0],
    };
  }
  const [first] = args;
  const fields = isRecord(first) ? Object.keys(first) : [];
  const names = typeof argnames === 'string' ? [argnames] : argnames;
  for (const name of names) {
    if (!fields.includes(name)) {
      throw wrongArgument(JSON.stringify(name), fields.join(', ') || 'an object as first argument');
    }
  }
  return {
    paths: names.map((name) => `0.${name}`),
    pick: ([all]) => {
      const record = all as Readonly<Record<string, unknown>>;
      if (typeof argnames === 'string') return record[argnames];
      return Object.fromEntries(names.map((name) => [name, record[name]]));
    },
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrongArgument(got: string, expected: string): UsageError {
  const where = siteOr('grad');
  return new UsageError({ where, got: `the gradient with respect to ${got}`, expected });
}

function requireScalar(leaf: WrittenLeaf | undefined): void {
  const type = leaf?.type;
  if (type?.kind === 'tensor' && isFloat(type.dtype) && type.shape.length === 0) return;
  throw wrongResult(type === undefined ? 'nothing' : formatType(type));
}

function wrongResult(got: string, expected = 'a float of rank 0'): ShapeError {
  return new ShapeError({
    where: siteOr('grad'),
    got: `${got} as the result of the function`,
    expected,
    remedy: 'Sum it up, or use vjp; with hasAux other results stand beside the value.',
  });
}

function typeText(leaves: readonly WrittenLeaf[]): string {
  return leaves.map(({ type }) => formatType(type)).join(', ') || 'nothing';
}
