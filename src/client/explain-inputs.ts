import { DownloadError, ShapeError, shortValues, UsageError } from '../core/errors.ts';
import { hubAdvice } from '../core/parse-url.ts';
import { nearest } from '../core/nearest-name.ts';
import { elementCount, formatShape } from '../core/tensor/shape.ts';
import { shortList } from '../core/short-list.ts';
import type { FunctionInfo, ValueInfo } from '../worker/protocol/loaded-session.ts';
import type { Binding } from './values/bind-inputs.ts';
import type { BoundValue, PlainInputs } from './values/input-value.ts';

/**
 * Why inputs do not fit a function: UsageError that lists all wrong and missing names, else
 * ShapeError that lists every value whose type does not fit. Loaded only when there is an error.
 */
export function explainInputs(info: FunctionInfo, inputs: PlainInputs, binding: Binding): Error {
  const expected = info.params.map((param) => param.name);
  const given = Object.keys(inputs).filter((name) => inputs[name] !== undefined);
  const unknown = given.filter((name) => !expected.includes(name));
  const missing = expected.filter((name) => !given.includes(name));
  if (unknown.length > 0 || missing.length > 0) {
    return wrongNames(info, { expected, unknown, missing });
  }
  const problems = binding.mismatches.map((param) =>
    describeMisfit(param, inputs[param.name] ?? '', binding),
  );
  return new ShapeError(`inputs of ${info.name}: ${problems.join('; ')}.`);
}

/** UsageError for a tensor in the place of inputs by name. */
export function explainTensor({ params }: FunctionInfo): Error {
  const names = params.map(({ name }) => name);
  const got = 'a tensor in the place of the inputs';
  const remedy = `Say which input it is: run({ ${names[0] ?? 'x'}: tensor }).`;
  return new UsageError({ where: 'run', got, expected: `an object with ${quoted(names)}`, remedy });
}

/** UsageError for a function that the program does not have. */
export function explainFunction(name: string, known: readonly string[]): Error {
  const close = nearest(name, known);
  return new UsageError({
    where: 'run',
    got: `function "${name}"`,
    expected: known.length === 0 ? 'a program that has functions' : `one of ${shortList(known)}`,
    remedy: close === undefined ? undefined : `Did you mean "${close}"?`,
  });
}

interface Names {
  readonly expected: readonly string[];
  readonly unknown: readonly string[];
  readonly missing: readonly string[];
}

function wrongNames(info: FunctionInfo, { expected, unknown, missing }: Names): Error {
  const hints = unknown.map((name) => {
    const close = nearest(name, missing);
    return close === undefined ? '' : ` Did you mean "${close}" instead of "${name}"?`;
  });
  const parts = [
    ...(unknown.length === 0 ? [] : [`unknown ${quoted(unknown)}`]),
    ...(missing.length === 0 ? [] : [`missing ${quoted(missing)}`]),
  ];
  const message = `inputs of ${info.name}: ${parts.join(', ')}; expected ${quoted(expected)}.`;
  return new UsageError(`${shortValues(message)}${hints.join('')}`, {
    details: { unknown, missing, expected },
  });
}

function quoted(names: readonly string[]): string {
  return names.length === 0 ? 'no input' : shortList(names.map((name) => `"${name}"`));
}

function describeMisfit(
  { name, dtype, shape }: ValueInfo,
  value: BoundValue,
  { sizes, owner }: Binding,
): string {
  const facts = shape.flatMap((dim) => {
    const known = sizes.get(String(dim));
    if (known === undefined || known.origin === name) return [];
    return [`${dim} is ${known.size} in "${known.origin}"`];
  });
  const because = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `"${name}": got ${describeValue(value, owner)}, expected ${expectation(dtype, shape)}${because}`;
}

function describeValue(value: BoundValue, owner: Binding['owner']): string {
  if (typeof value !== 'object') return `${typeof value} ${String(value)}`;
  if ('wire' in value) return 'a tuple or data';
  const type = `${value.dtype} ${formatShape(value.shape)}`;
  if ('handle' in value) {
    if (value.handle === undefined) return `${type} in a DeviceTensor that was disposed of`;
    return owner?.accepts(value.owner) ? type : `${type} in a DeviceTensor of another device`;
  }
  const isTransferred = value.data.length < elementCount(value.shape);
  return isTransferred ? `${type} whose data an earlier run took (transfer: true)` : type;
}

function expectation(dtype: ValueInfo['dtype'], shape: ValueInfo['shape']): string {
  if (dtype === 'any') return 'anything that this session can use';
  if (dtype === 'int') return 'an integer (a plain number)';
  return dtype === 'float' ? 'a number' : `${dtype} ${formatShape(shape)}`;
}

/** The error of a source that is not there, with advice for what looks like a name of a hub. */
export function explainDownload(error: DownloadError, source: unknown): DownloadError {
  const advice = hubAdvice(source);
  if (advice === undefined) return error;
  const { message, details } = error;
  return new DownloadError(`${message} ${advice}`, { cause: error, details });
}
