import type { Dim } from '../core/dims/dim.ts';
import type { Operator } from '../ops/operator.ts';
import { call, func, moduleOf, variable } from '../compiler/ir/build.ts';
import type { Expr, Module } from '../compiler/ir/expr.ts';
import type { OpCase } from '../ops/op-cases.ts';

/** The forms of a program in which a case runs. */
export type ProgramForm = 'call' | 'symbolic sizes' | 'fused';

/** Forms of programs with a case of an operator. */
export const PROGRAM_FORMS: readonly ProgramForm[] = ['call', 'symbolic sizes', 'fused'];

/** Sizes from here on get symbols: 0 and 1 decide about broadcasting. */
const LEAST_SYMBOLIC = 2;

/**
 * `main` with a call of an operator: with the sizes of a case, with symbols in their places, or with the result
 * as the operand of a further call, which may be fused into the kernel. Undefined for a case that has no such
 * form: inputs left out before others, no sizes to name.
 */
export function operatorProgram(
  op: Operator,
  { inputs, attributes = {} }: OpCase,
  form: ProgramForm,
): Module | undefined {
  const present = inputs.slice(0, inputs.findLastIndex((input) => input !== undefined) + 1);
  const isSymbolic = form === 'symbolic sizes';
  const named = (size: number): Dim => (isSymbolic && size >= LEAST_SYMBOLIC ? `s${size}` : size);
  const params = present.map((input, i) =>
    input === undefined ? undefined : variable(`x${i}`, input.dtype, input.shape.map(named)),
  );
  const whole = params.filter((param) => param !== undefined);
  if (whole.length < params.length) return undefined;
  const sizes = present.flatMap((input) => input?.shape ?? []);
  if (isSymbolic && !sizes.some((size) => size >= LEAST_SYMBOLIC)) return undefined;
  const result: Expr = call(op.name, whole, attributes);
  return moduleOf({ main: func(whole, form === 'fused' ? call('abs', [result]) : result) });
}
