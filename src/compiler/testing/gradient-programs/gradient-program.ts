import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { numberToFloat16 } from '../../../core/tensor/float16.ts';
import { seededRandom } from '../../../core/random.ts';
import { numberElements } from '../../../ops/elements.ts';
import { isFloat } from '../../../ops/elementwise/number-dtypes.ts';
import type { HostInput } from '../../../runtime/link/host-function.ts';

import { callFunction, func, global, gradient, jvp, tuple, variableOf } from '../../ir/build.ts';
import { cotangentType } from '../../ir/cotangent-type.ts';
import type { Expr, FunctionExpr, Module } from '../../ir/expr.ts';
import { parseModule } from '../../ir/text/parse.ts';
import type { Type } from '../../ir/type.ts';

/** The precision that a program is compiled for. */
export type ProgramFloat = 'float64' | 'float32' | 'float16';

/** A tensor, one of floats also by its elements, a number of the host, or data of these. */
export type Argument =
  | NestedNumbers
  | { readonly int: number }
  | { readonly float: number }
  | HostTensor
  | { readonly constructor: string; readonly fields: readonly Argument[] };

type NestedNumbers = number | readonly NestedNumbers[];

/** A program whose function `@f` gives a float of rank 0, to be differentiated. */
export interface GradientProgram {
  readonly title: string;
  /** A module with `@f`, and without `@main` and `@forward`. */
  readonly module: (float: ProgramFloat) => Module;
  /** The arguments of `@f`. */
  readonly args: readonly Argument[];
  /**
   * A feature of the program that forward mode does not support; undefined if it supports all of
   * them.
   */
  readonly withoutForward?: string | undefined;
  /** Functions of JavaScript that it calls, from tensor to tensor. */
  readonly functions?: Readonly<Record<string, (x: HostTensor) => HostTensor>> | undefined;
  /** The precision on devices other than the host; default float32. */
  readonly single?: 'float16' | undefined;
}

const SUFFIXES: Readonly<Record<ProgramFloat, string>> = {
  float64: 'f64',
  float32: 'f',
  float16: 'f16',
};

/** A program in text form, written in float64. */
export function textProgram(
  title: string,
  text: string,
  args: readonly Argument[],
  others: Pick<GradientProgram, 'withoutForward' | 'functions' | 'single'> = {},
): GradientProgram {
  const module = (float: ProgramFloat): Module =>
    parseModule(text.replaceAll('float64', float).replace(/(?<=[\d.])f64\b/g, SUFFIXES[float]));
  return { title, module, args, ...others };
}

/** `{ Cons, [head, …] }`, a list as an argument. */
export function listOf(items: readonly Argument[]): Argument {
  return items.reduceRight<Argument>(
    (rest, item) => ({ constructor: 'Cons', fields: [item, rest] }),
    { constructor: 'Nil', fields: [] },
  );
}

/** A tensor of numbers in [-1, 1), which single precision has, as an argument. */
export function randomTensor(seed: number, ...shape: readonly number[]): HostTensor {
  const random = seededRandom(seed);
  const length = shape.reduce((product, size) => product * size, 1);
  const values = Array.from({ length }, () => Math.round(random() * 512) / 256 - 1);
  return HostTensor.from('float64', shape, values);
}

/** The module with `@main`, the gradient of `@f`. */
export function withGradient(module: Module): Module {
  const params = paramsOf(module).map((type, i) => variableOf(`x${i}`, type));
  const main = func(params, callFunction(gradient(global('f')), params));
  return { ...module, functions: new Map([...module.functions, ['main', main]]) };
}

/** The module with `@main`, from arguments and tangents of `@f` to the tangent of its result. */
export function withTangents(module: Module): Module {
  const types = paramsOf(module);
  const params = types.map((type, i) => variableOf(`x${i}`, type));
  const tangents = types.map((type, i): Expr => {
    const own = cotangentType(type);
    return own.kind === 'tuple' && own.fields.length === 0 ? tuple([]) : variableOf(`t${i}`, own);
  });
  const given = tangents.filter((tangent) => tangent.kind === 'var');
  const main = func(
    [...params, ...given],
    callFunction(jvp(global('f')), [...params, ...tangents]),
  );
  return { ...module, functions: new Map([...module.functions, ['main', main]]) };
}

/** Returns true if an argument has a tangent. */
export function hasTangent(arg: Argument): boolean {
  if (arg instanceof HostTensor) return isFloat(arg.dtype);
  return typeof arg === 'number' || Array.isArray(arg) || 'fields' in arg;
}

function paramsOf({ functions }: Module): readonly Type[] {
  const fn: FunctionExpr | undefined = functions.get('f');
  return (fn?.params ?? []).map(({ type }) => {
    if (type === undefined) throw new Error('a parameter of @f has no type');
    return type;
  });
}

/** The value of an argument; `change` is asked for each float in it, in order. */
export function valueOf(
  arg: Argument,
  float: ProgramFloat,
  change: (value: number) => number = (value) => value,
): HostInput {
  const encode = float === 'float16' ? numberToFloat16 : (value: number) => value;
  if (arg instanceof HostTensor) {
    if (!isFloat(arg.dtype)) return arg;
    const values = [...numberElements(arg)].map((value) => encode(change(value)));
    return HostTensor.from(float, arg.shape, values);
  }
  if (typeof arg === 'number') return HostTensor.from(float, [], [encode(change(arg))]);
  if ('int' in arg) return arg.int;
  // A number without a fraction would arrive as an int.
  if ('float' in arg) return arg.float;
  if ('fields' in arg) {
    const { constructor, fields } = arg;
    return { constructor, fields: fields.map((field) => valueOf(field, float, change)) };
  }
  if (!isNumbers(arg)) throw new Error('internal: an argument of another form');
  return HostTensor.from(
    float,
    shapeOf(arg),
    flat(arg).map((value) => encode(change(value))),
  );
}

function isNumbers(arg: Argument): arg is readonly NestedNumbers[] {
  return Array.isArray(arg);
}

function flat(rows: NestedNumbers): readonly number[] {
  return typeof rows === 'number' ? [rows] : rows.flatMap(flat);
}

function shapeOf(rows: NestedNumbers): readonly number[] {
  if (typeof rows === 'number') return [];
  return [rows.length, ...(rows[0] === undefined ? [] : shapeOf(rows[0]))];
}
