import { type Dim, evaluateDim, formatDim } from '../core/dim.ts';
import type { DType } from '../core/dtype.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import { elementCount, formatShape, type Shape } from '../core/shape.ts';
import type { FunctionInfo, NamedType } from '../worker/protocol.ts';
import type { BoundValue, PlainInputs } from './input-value.ts';
import { Tensor } from './tensor.ts';

/**
 * Values in the order of the parameters. Throws UsageError that lists all wrong and missing names,
 * then ShapeError that lists every value whose type does not fit.
 */
export function bindInputs(info: FunctionInfo, inputs: PlainInputs): BoundValue[] {
  checkNames(info, Object.keys(inputs));
  const symbols = new Map<string, number>();
  const origins = new Map<string, string>();
  const problems: string[] = [];
  const values = info.params.map((param) => {
    const value = inputs[param.name] ?? '';
    if (param.type.kind === 'tensor' && typeof value === 'object') {
      param.type.shape.forEach((dim, axis) => {
        const size = value.shape[axis];
        if (typeof dim !== 'string' || dim === '?' || size === undefined || symbols.has(dim))
          return;
        symbols.set(dim, size);
        origins.set(dim, param.name);
      });
    }
    return value;
  });
  info.params.forEach((param, index) => {
    const value = values[index] ?? '';
    const expected = mismatch(param, value, symbols);
    if (expected === undefined) return;
    const used = symbolsOf(param).filter(
      (name) => (origins.get(name) ?? param.name) !== param.name,
    );
    const known = used.map((name) => `${name} is ${symbols.get(name)} in "${origins.get(name)}"`);
    const reason = known.length === 0 ? '' : ` (${known.join(', ')})`;
    problems.push(`"${param.name}": got ${describeValue(value)}, expected ${expected}${reason}`);
  });
  if (problems.length > 0) {
    throw new ShapeError(`inputs of ${info.name}: ${problems.join('; ')}.`);
  }
  return values;
}

function checkNames(info: FunctionInfo, given: readonly string[]): void {
  const expected = info.params.map((param) => param.name);
  const unknown = given.filter((name) => !expected.includes(name));
  const missing = expected.filter((name) => !given.includes(name));
  if (unknown.length === 0 && missing.length === 0) return;
  const hints = unknown.map((name) => {
    const close = closest(name, missing);
    return close === undefined ? '' : ` Did you mean "${close}" instead of "${name}"?`;
  });
  const parts = [
    ...(unknown.length === 0 ? [] : [`unknown ${quoted(unknown)}`]),
    ...(missing.length === 0 ? [] : [`missing ${quoted(missing)}`]),
  ];
  throw new UsageError(
    `inputs of ${info.name}: ${parts.join(', ')}; expected ${quoted(expected)}.${hints.join('')}`,
    { details: { unknown, missing, expected } },
  );
}

function quoted(names: readonly string[]): string {
  return names.length === 0 ? 'no input' : names.map((name) => `"${name}"`).join(', ');
}

/** The name at the smallest edit distance, if it is near. */
export function closest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(name.length, Math.max(2, name.length / 2));
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** What was expected, when the value does not fit. */
function mismatch(
  { type }: NamedType,
  value: BoundValue,
  symbols: ReadonlyMap<string, number>,
): string | undefined {
  switch (type.kind) {
    case 'any':
      return undefined;
    case 'int':
      return Number.isSafeInteger(value) ? undefined : 'an integer (a plain number)';
    case 'float':
      return typeof value === 'number' ? undefined : 'a number';
    case 'tensor': {
      if (value instanceof Tensor && value.data.length < elementCount(value.shape)) {
        return 'its data, which was transferred by an earlier run';
      }
      const fits =
        typeof value === 'object' &&
        value.dtype === type.dtype &&
        shapeFits(value.shape, type.shape, symbols);
      return fits ? undefined : `${type.dtype} ${formatShape(type.shape.map(formatDim))}`;
    }
    default:
      return type satisfies never;
  }
}

function shapeFits(shape: Shape, dims: readonly Dim[], symbols: ReadonlyMap<string, number>) {
  return (
    shape.length === dims.length &&
    dims.every((dim, axis) => (evaluateDim(dim, symbols) ?? shape[axis]) === shape[axis])
  );
}

function symbolsOf({ type }: NamedType): string[] {
  const names = new Set<string>();
  const visit = (dim: Dim): void => {
    if (typeof dim === 'string') names.add(dim);
    else if (typeof dim === 'object') [dim.left, dim.right].forEach(visit);
  };
  if (type.kind === 'tensor') type.shape.forEach(visit);
  return [...names];
}

function describeValue(value: BoundValue): string {
  if (typeof value !== 'object') return `${typeof value} ${value}`;
  return `${value.dtype satisfies DType} ${formatShape(value.shape)}`;
}
