import { applyDimOperator, type Dim, evaluateDim, forEachSymbol, formatDim } from '../core/dim.ts';
import { ShapeError } from '../core/errors.ts';
import type {
  Attributes,
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../core/primitive-function.ts';
import type { Shape } from '../core/shape.ts';
import { opDefinition } from './registry.ts';

/** Shapes of the tensors of one call of a primitive function. */
interface CallShapes {
  readonly params: readonly Shape[];
  readonly results: readonly Shape[];
}

/**
 * The calls of a primitive function with the symbols in their attributes replaced by the numbers
 * that they have in a call with tensors of these shapes. Throws ShapeError for a symbol that does
 * not follow from the primitive's types.
 */
export function bindAttributes(
  { body, params, results }: PrimitiveFunction,
  shapes: CallShapes,
): readonly OperatorCall[] {
  if (!body.some(({ attributes }) => Object.values(attributes).some(isSymbolic))) return body;
  const values = new DimValues();
  for (const [i, { shape }] of params.entries()) values.learn(shape, shapes.params[i]);
  for (const [i, { type }] of results.entries()) values.learn(type.shape, shapes.results[i]);
  return body.map((call) => ({ ...call, attributes: bindCall(call, values) }));
}

/** Symbols in attributes of calls that the sizes of tensors of these types do not tell. */
export function undeterminedSymbols(
  calls: readonly Pick<OperatorCall, 'op' | 'attributes'>[],
  types: readonly TensorType[],
): readonly string[] {
  const dims = calls.flatMap(symbolicDims);
  if (dims.length === 0) return [];
  const values = new DimValues();
  // Any sizes will do: whether a symbol follows from them does not depend on them.
  for (const { shape } of types) values.learn(shape, new Array<number>(shape.length).fill(1));
  const missing = new Set<string>();
  for (const dim of dims) {
    if (values.of(dim) !== undefined) continue;
    forEachSymbol(dim, (symbol) => {
      if (values.of(symbol) === undefined) missing.add(symbol);
    });
  }
  return [...missing];
}

function isSymbolic(value: AttributeValue): boolean {
  return Array.isArray(value) && value.some((item) => typeof item !== 'number');
}

function symbolicDims({ op, attributes }: Pick<OperatorCall, 'op' | 'attributes'>): Dim[] {
  const specs = opDefinition(op).attributes;
  return Object.entries(attributes).flatMap(([name, value]) =>
    specs[name]?.type === 'dims' && typeof value === 'object'
      ? value.filter((item: Dim) => typeof item !== 'number')
      : [],
  );
}

function bindCall({ op, attributes }: OperatorCall, values: DimValues): Attributes {
  const specs = opDefinition(op).attributes;
  const bound = Object.entries(attributes).map(([name, value]): [string, AttributeValue] => {
    if (specs[name]?.type !== 'dims' || typeof value !== 'object') return [name, value];
    const items: readonly Dim[] = value;
    return [name, items.map((dim) => numberOf(dim, values, `${op}: attribute ${name}`))];
  });
  return Object.fromEntries(bound);
}

function numberOf(dim: Dim, values: DimValues, where: string): number {
  const value = values.of(dim);
  if (value !== undefined) return value;
  throw new ShapeError({
    where,
    got: `the dimension ${formatDim(dim)}`,
    expected: 'dimensions that follow from the shapes of parameters and results',
  });
}

/** What is known of dimensions, from types and the shapes that they have. */
class DimValues {
  readonly #symbols = new Map<string, number>();
  readonly #dims = new Map<string, number>();

  learn(dims: readonly Dim[], sizes: Shape | undefined): void {
    for (const [axis, dim] of dims.entries()) {
      const size = sizes?.[axis];
      if (size === undefined || typeof dim === 'number') continue;
      this.#dims.set(formatDim(dim), size);
      this.#solve(dim, size);
    }
  }

  of(dim: Dim): number | undefined {
    const known = typeof dim === 'object' ? this.#dims.get(formatDim(dim)) : undefined;
    if (known !== undefined) return known;
    if (typeof dim !== 'object') return evaluateDim(dim, this.#symbols);
    const left = this.of(dim.left);
    const right = this.of(dim.right);
    if (left === undefined || right === undefined) return undefined;
    return applyDimOperator(dim.op, left, right);
  }

  /** Finds the symbol of a sum or product whose other operand is known. */
  #solve(dim: Dim, value: number): void {
    if (typeof dim === 'string' && dim !== '?') this.#symbols.set(dim, value);
    if (typeof dim !== 'object') return;
    const left = this.of(dim.left);
    const right = this.of(dim.right);
    if (left === undefined && right !== undefined) {
      if (dim.op === 'add') this.#solve(dim.left, value - right);
      if (dim.op === 'sub') this.#solve(dim.left, value + right);
      if (dim.op === 'mul' && right !== 0) this.#solve(dim.left, value / right);
    } else if (left !== undefined && right === undefined) {
      if (dim.op === 'add') this.#solve(dim.right, value - left);
      if (dim.op === 'sub') this.#solve(dim.right, left - value);
      if (dim.op === 'mul' && left !== 0) this.#solve(dim.right, value / left);
    }
  }
}
