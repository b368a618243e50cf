import type { BytecodeFunction, ValueType } from '../bytecode/executable.ts';
import { type Dim, evaluateDim, formatDim } from '../core/dim.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import { formatShape } from '../core/shape.ts';
import { shortList } from '../core/short-list.ts';
import { describeValue, FloatValue, TensorValue, type Value } from './value.ts';

/**
 * Checks arguments from outside against a function's signature: number, kinds, dtypes, ranks,
 * dimensions, and that a symbol means the same everywhere. Returns the arguments, ints turned to
 * floats where the signature says so. Throws UsageError or ShapeError that name parameter and
 * dimension. A function without a signature takes anything.
 */
export function checkArguments(callee: BytecodeFunction, args: readonly Value[]): Value[] {
  const { name, paramNames, signature } = callee;
  if (args.length !== paramNames.length) {
    throw new UsageError({
      where: name,
      got: `${args.length} arguments`,
      expected: `${paramNames.length} (${shortList(paramNames) || 'none'})`,
    });
  }
  if (signature === undefined) return [...args];
  const symbols = new Map<string, Binding>();
  const later: (() => void)[] = [];
  const checked = signature.params.map((type, index) => {
    const where = `${name}, parameter ${paramNames[index] ?? index}`;
    return checkArgument(args[index] ?? null, type, { where, symbols, later });
  });
  for (const check of later) check();
  return checked;
}

interface Binding {
  readonly value: number;
  readonly where: string;
}

interface Check {
  readonly where: string;
  readonly symbols: Map<string, Binding>;
  /** Dimensions that are expressions wait until all symbols are bound. */
  readonly later: (() => void)[];
}

function checkArgument(value: Value, type: ValueType, check: Check): Value {
  switch (type.kind) {
    case 'any':
      return value;
    case 'int':
      if (typeof value === 'number') return value;
      throw wrongKind(value, 'an int', check);
    case 'float':
      if (typeof value === 'number') return new FloatValue(value);
      if (value instanceof FloatValue) return value;
      throw wrongKind(value, 'a float', check);
    default:
      if (!(value instanceof TensorValue)) throw wrongKind(value, tensorType(type), check);
      checkTensor(value, type, check);
      return value;
  }
}

type TensorValueType = Extract<ValueType, { kind: 'tensor' }>;

function checkTensor(tensor: TensorValue, type: TensorValueType, check: Check): void {
  if (tensor.dtype !== type.dtype || tensor.shape.length !== type.shape.length) {
    throw wrongKind(tensor, tensorType(type), check);
  }
  for (const [axis, dim] of type.shape.entries()) {
    checkDim(tensor, { ...check, axis, expected: dim });
  }
}

function checkDim(
  tensor: TensorValue,
  check: Check & { readonly axis: number; readonly expected: Dim },
): void {
  const { axis, expected, symbols, where } = check;
  const actual = tensor.shape[axis] ?? 0;
  if (typeof expected === 'object') {
    check.later.push(() => checkExpression(tensor, check));
  } else if (typeof expected === 'number') {
    if (actual !== expected) throw wrongDim(tensor, check, String(expected));
  } else if (expected !== '?') {
    const bound = symbols.get(expected);
    if (bound === undefined) {
      symbols.set(expected, { value: actual, where: `dimension ${axis} of ${where}` });
    } else if (bound.value !== actual) {
      throw wrongDim(tensor, check, `${bound.value}, since ${expected} is also ${bound.where}`);
    }
  }
}

function checkExpression(
  tensor: TensorValue,
  check: Check & { readonly axis: number; readonly expected: Dim },
): void {
  const values = new Map([...check.symbols].map(([name, { value }]) => [name, value]));
  const expected = evaluateDim(check.expected, values);
  if (expected === undefined || expected === tensor.shape[check.axis]) return;
  throw wrongDim(tensor, check, `${expected}, which is ${formatDim(check.expected)}`);
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
