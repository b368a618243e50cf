import { computedDType, type DType, isBigInt } from '../../core/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { AttributeSpec, ScalarFunction } from '../define-op.ts';
import { add, maximum, minimum, mul } from '../elementwise/elementwise-binary.ts';
import { elementFunction } from '../formula/evaluate.ts';
import type { FormulaCall } from '../formula/expression.ts';
import { renderScalar } from '../formula/render-scalar.ts';
import type { RenderOptions } from '../formula/render-wgsl.ts';
import { elementBits, numberElements } from '../elements.ts';

const OPERATORS = { add, mul, max: maximum, min: minimum };

export const REDUCTION_ATTRIBUTE: AttributeSpec = {
  type: 'string',
  default: 'none',
  oneOf: ['none', ...Object.keys(OPERATORS)],
};

/** The operator that makes one element of two. Of `none`, which takes the last, undefined. */
function combination(reduction: string): ScalarFunction | undefined {
  if (reduction === 'none') return undefined;
  const scalar = OPERATORS[reduction as keyof typeof OPERATORS].scalar;
  if (scalar === undefined) throw internalError(`${reduction} has no scalar function`);
  return scalar;
}

function contextOf(dtype: DType): FormulaCall {
  const computed = computedDType(dtype);
  return { attributes: {}, dtypes: [computed, computed], output: computed };
}

export function requireReducible(dtype: DType, reduction: string, where: string): void {
  if (reduction === 'none' || dtype !== 'bool') return;
  throw new ShapeError({
    where: `${where}: attribute reduction`,
    got: `${reduction} of bool`,
    expected: 'none, or numbers',
  });
}

/** Declarations of `fn combine`. Where only the last update counts nothing calls it. */
export function combineWgsl(dtype: DType, reduction: string): string {
  const scalar = combination(reduction);
  const functions = new Map<string, string>();
  const lines: string[] = [];
  const options: RenderOptions = {
    operands: ['a', 'b'],
    width: 1,
    bind: (text) => {
      const name = `bound${lines.length}`;
      lines.push(`let ${name} = ${text};`);
      return name;
    },
    declare: (name, text) => functions.set(name, text),
  };
  const result = scalar === undefined ? 'b' : renderScalar(scalar, contextOf(dtype), options);
  const body = [...lines, `return ${result};`].join(' ');
  const combine = `fn combine(a: Element, b: Element) -> Element { ${body} }`;
  return [...functions.values(), combine, ''].join('\n');
}

/** A scatter of whole rows, as both operators come down to it. */
export interface HostScatter {
  readonly x: HostTensor;
  readonly updates: HostTensor;
  readonly reduction: string;
  /** Elements of one row. */
  readonly run: number;
  /** The row of x for each row of the updates; negative for none. */
  readonly rows: ArrayLike<number>;
}

export function scatterOnHost(scatter: HostScatter, output: HostTensor): void {
  const { x, updates, reduction, run, rows } = scatter;
  elementBits(output).set(elementBits(x));
  const scalar = combination(reduction);
  if (scalar === undefined) {
    copyRows(elementBits(updates), elementBits(output), { rows, run });
  } else if (isBigInt(output.dtype)) {
    combineBigints(scalar, scatter, output);
  } else {
    combineNumbers(scalar, scatter, output);
  }
}

function copyRows(
  from: Uint32Array,
  to: Uint32Array,
  { rows, run }: { readonly rows: ArrayLike<number>; readonly run: number },
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? -1;
    if (row >= 0) to.set(from.subarray(i * run, (i + 1) * run), row * run);
  }
}

function combineNumbers(
  scalar: ScalarFunction,
  { updates, run, rows }: HostScatter,
  output: HostTensor,
): void {
  const from = numberElements(updates);
  const combine = elementFunction(scalar, contextOf(output.dtype));
  const to = numberElements(output);
  for (let i = 0; i < rows.length * run; i++) {
    const row = rows[Math.floor(i / run)] ?? -1;
    if (row < 0) continue;
    const at = row * run + (i % run);
    to[at] = Number(combine([to[at] ?? 0, from[i] ?? 0]));
  }
}

function combineBigints(
  scalar: ScalarFunction,
  { updates, run, rows }: HostScatter,
  output: HostTensor,
): void {
  const from = updates.data as BigInt64Array;
  const to = output.data as BigInt64Array;
  const combine = elementFunction(scalar, contextOf(output.dtype));
  for (let i = 0; i < rows.length * run; i++) {
    const row = rows[Math.floor(i / run)] ?? -1;
    if (row < 0) continue;
    const at = row * run + (i % run);
    to[at] = BigInt(combine([to[at] ?? 0n, from[i] ?? 0n]));
  }
}
