import type { BytecodeFunction, ValueType } from '../../bytecode/executable.ts';
import { type Dim, evaluateDim, formatDim } from '../../core/dims/dim.ts';
import { internalError, ShapeError, UsageError } from '../../core/errors.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import { shortList } from '../../core/short-list.ts';
import { describeValue, FloatValue, TensorValue, type Value } from './value.ts';

/**
 * Why arguments do not fit a function's signature, for those that `checkArguments` refuses: names the
 * first parameter and dimension at fault. A file of its own, loaded when there are such.
 */
export function explainArguments(callee: BytecodeFunction, args: readonly Value[]): Error {
  const { name, paramNames, signature } = callee;
  if (args.length !== paramNames.length) {
    return new UsageError({
      where: name,
      got: `${args.length} arguments`,
      expected: `${paramNames.length} (${shortList(paramNames) || 'none'})`,
    });
  }
  const symbols = new Map<string, Binding>();
  const later: (() => Error | undefined)[] = [];
  for (const [index, type] of (signature?.params ?? []).entries()) {
    const where = `${name}, parameter ${paramNames[index] ?? index}`;
    const error = checkArgument(args[index] ?? null, type, { where, symbols, later });
    if (error !== undefined) return error;
  }
  for (const check of later) {
    const error = check();
    if (error !== undefined) return error;
  }
  return internalError(`arguments of ${name} that fit`);
}

interface Binding {
  readonly value: number;
  readonly where: string;
}

interface Check {
  readonly where: string;
  readonly symbols: Map<string, Binding>;
  /** Dimensions that are expressions wait until all symbols are bound. */
  readonly later: (() => Error | undefined)[];
}

function checkArgument(value: Value, type: ValueType, check: Check): Error | undefined {
  switch (type.kind) {
    case 'any':
      return undefined;
    case 'int':
      return typeof value === 'number' ? undefined : wrongKind(value, 'an int', check);
    case 'float':
      if (typeof value === 'number' || value instanceof FloatValue) return undefined;
      return wrongKind(value, 'a float', check);
    default:
      if (!(value instanceof TensorValue)) return wrongKind(value, tensorType(type), check);
      return checkTensor(value, type, check);
  }
}

type TensorValueType = Extract<ValueType, { kind: 'tensor' }>;

function checkTensor(tensor: TensorValue, type: TensorValueType, check: Check): Error | undefined {
  if (tensor.dtype !== type.dtype || tensor.shape.length !== type.shape.length) {
    return wrongKind(tensor, tensorType(type), check);
  }
  for (const [axis, expected] of type.shape.entries()) {
    const error = checkDim(tensor, { ...check, axis, expected });
    if (error !== undefined) return error;
  }
  return undefined;
}

interface DimCheck extends Check {
  readonly axis: number;
  readonly expected: Dim;
}

function checkDim(tensor: TensorValue, check: DimCheck): Error | undefined {
  const { axis, expected, symbols, where } = check;
  const actual = tensor.shape[axis] ?? 0;
  if (typeof expected === 'object') {
    check.later.push(() => checkExpression(tensor, check));
  } else if (typeof expected === 'number') {
    if (actual !== expected) return wrongDim(tensor, check, String(expected));
  } else if (expected !== '?') {
    const bound = symbols.get(expected);
    if (bound === undefined) {
      symbols.set(expected, { value: actual, where: `dimension ${axis} of ${where}` });
    } else if (bound.value !== actual) {
      return wrongDim(tensor, check, `${bound.value}, since ${expected} is also ${bound.where}`);
    }
  }
  return undefined;
}

function checkExpression(tensor: TensorValue, check: DimCheck): Error | undefined {
  const values = new Map([...check.symbols].map(([name, { value }]) => [name, value]));
  const expected = evaluateDim(check.expected, values);
  if (expected === undefined || expected === tensor.shape[check.axis]) return undefined;
  return wrongDim(tensor, check, `${expected}, which is ${formatDim(check.expected)}`);
}

function tensorType({ dtype, shape }: TensorValueType): string {
  return `a ${dtype} tensor ${formatShape(shape.map(formatDim))}`;
}

function wrongKind(value: Value, expected: string, { where }: Check): Error {
  const complaint = { where, got: describeValue(value), expected };
  return value instanceof TensorValue ? new ShapeError(complaint) : new UsageError(complaint);
}

function wrongDim(
  { shape }: TensorValue,
  { where, axis }: { readonly where: string; readonly axis: number },
  expected: string,
): ShapeError {
  return new ShapeError({
    where: `${where}, dimension ${axis}`,
    got: `${shape[axis]} in shape ${formatShape(shape)}`,
    expected,
  });
}
