import type { BytecodeFunction } from '../bytecode/executable.ts';
import { type Dim, DIM_OPERATORS, evaluateDim } from '../core/dims/dim.ts';
import { FormatError, UsageError } from '../core/errors.ts';
import type { HostTensor } from '../core/tensor/host-tensor.ts';
import {
  describeStray,
  findStrayIndex,
  INDEX_CHECKS,
  type IndexCheck,
} from '../core/contracts/index-checks.ts';
import { symbolSizes } from './link/symbol-sizes.ts';
import { TensorValue, type Value } from './values/value.ts';
import type { CallObserver } from './vm-state.ts';

/**
 * Looks at indices that calls bring with them before anything runs. Those that lie on a device already,
 * results of other calls, it does not see.
 */
export class IndexChecks implements CallObserver {
  readonly #checks: readonly IndexCheck[];
  /** The host tensors that integer tensors were made of. */
  readonly #contents = new WeakMap<TensorValue, HostTensor>();

  /** Throws FormatError for metadata that no compiler wrote. */
  constructor(metadata: Readonly<Record<string, string>>) {
    const text = metadata[INDEX_CHECKS] ?? '[]';
    const list = parse(text);
    if (!Array.isArray(list) || !list.every(isCheck)) {
      throw new FormatError({
        where: `metadata, ${INDEX_CHECKS}`,
        got: text.slice(0, 40),
        expected: 'a list of checks as JSON',
      });
    }
    this.#checks = list;
  }

  /** Records what a tensor holds. */
  uploaded(value: TensorValue, tensor: HostTensor): void {
    const { dtype } = tensor;
    if (dtype === 'int32' || dtype === 'int64') this.#contents.set(value, tensor);
  }

  /** Throws UsageError for the first index that is out of bounds; the arguments fit the signature. */
  called(callee: BytecodeFunction, args: readonly Value[]): void {
    const { name, paramNames } = callee;
    const checks = this.#checks.filter((check) => check.function === name);
    if (checks.length === 0) return;
    const symbols = symbolSizes(callee, args);
    for (const { parameter, values, where, lower, below, except, sizes = {} } of checks) {
      const indices =
        values === undefined
          ? this.#contentsOf(args[parameter ?? -1])
          : { data: values, shape: undefined };
      if (indices === undefined) continue;
      const known = new Map(symbols);
      for (const [symbol, source] of Object.entries(sizes)) {
        const size = this.#contentsOf(args[source.parameter])?.elements[source.element];
        if (size !== undefined) known.set(symbol, Number(size));
      }
      const bounds = { lower: numbers(lower, known), below: numbers(below, known), except };
      if (bounds.lower.length !== lower.length || bounds.below.length !== below.length) continue;
      const stray = findStrayIndex(indices.data, bounds);
      if (stray === undefined) continue;
      const { got, expected } = describeStray(stray, indices.shape);
      const source = parameter === undefined ? 'a constant' : `parameter ${paramNames[parameter]}`;
      throw new UsageError({ where: `${name}, ${source}, read by ${where}`, got, expected });
    }
  }

  #contentsOf(arg: Value | undefined): HostTensor | undefined {
    return arg instanceof TensorValue ? this.#contents.get(arg) : undefined;
  }
}

function numbers(dims: readonly Dim[], symbols: ReadonlyMap<string, number>): number[] {
  return dims.flatMap((dim) => evaluateDim(dim, symbols) ?? []);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 64;

function isCheck(item: unknown): item is IndexCheck {
  if (typeof item !== 'object' || item === null) return false;
  const field = (name: string): unknown => Reflect.get(item, name);
  const [lower, below, except, sizes] = ['lower', 'below', 'except', 'sizes'].map(field);
  return (
    typeof field('function') === 'string' &&
    typeof field('where') === 'string' &&
    isSource(field('parameter'), field('values')) &&
    areDims(lower) &&
    areDims(below) &&
    lower.length === below.length &&
    lower.length > 0 &&
    (except === undefined || typeof except === 'number') &&
    (sizes === undefined || areSizes(sizes))
  );
}

/** Returns true if the source of indices is a parameter, or a list of numbers. */
function isSource(parameter: unknown, values: unknown): boolean {
  if (values === undefined) return isCount(parameter);
  return Array.isArray(values) && values.every((value) => typeof value === 'number');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function areDims(value: unknown): value is readonly Dim[] {
  return Array.isArray(value) && value.every((dim) => isDim(dim, 0));
}

function isDim(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value === 'string') return true;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  const { op, left, right } = value as Readonly<Record<string, unknown>>;
  return (
    DIM_OPERATORS.some((known) => known === op) && isDim(left, depth + 1) && isDim(right, depth + 1)
  );
}

function areSizes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((source: unknown) => {
    if (typeof source !== 'object' || source === null) return false;
    return isCount(Reflect.get(source, 'parameter')) && isCount(Reflect.get(source, 'element'));
  });
}
