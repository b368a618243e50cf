import { call, constant } from '../../../../compiler/ir/build.ts';
import type { ConstantExpr, Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';

export const add = (a: Expr, b: Expr): Expr => call('add', [a, b]);

export const sub = (a: Expr, b: Expr): Expr => call('sub', [a, b]);

export const mul = (a: Expr, b: Expr): Expr => call('mul', [a, b]);

export const reshape = (x: Expr, shape: readonly Dim[]): Expr => call('reshape', [x], { shape });

/** Elements from one place to another along the last axis of a tensor of the shape. */
export function lastSlice(
  x: Expr,
  shape: readonly Dim[],
  [start, end]: readonly [number, number],
): Expr {
  const leading = shape.slice(0, -1);
  return call('slice', [x], { starts: [...leading.map(() => 0), start], ends: [...leading, end] });
}

/** The integers from 0 up to a size, int32 (size). */
export const upTo = (size: Dim): Expr =>
  call('cast', [call('arange', [], { start: [0], size: [size] })], { to: 'int32' });

/** x sigmoid(x), which is also called swish. */
export const silu = (x: Expr): Expr => mul(x, call('sigmoid', [x]));

/** GELU by a hyperbolic tangent, as transformers' `gelu_pytorch_tanh`. */
export const geluTanh = (x: Expr): Expr => call('gelu', [x], { approximate: 'tanh' });

/** limit tanh(x / limit), or x where the limit is 0. */
export function softcap(x: Expr, limit: number): Expr {
  if (limit === 0) return x;
  return mul(call('tanh', [call('div', [x, number(limit)])]), number(limit));
}

/** A constant float32 of rank 0. */
export const number = (value: number): Expr => constant(HostTensor.from('float32', [], [value]));

export const floats = (shape: readonly number[], values: Float32Array): ConstantExpr =>
  constant(new HostTensor('float32', shape, values));

/** A constant int32 of rank 0. */
export const integer = (value: number): Expr => constant(HostTensor.from('int32', [], [value]));
