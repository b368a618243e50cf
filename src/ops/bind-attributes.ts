import type { CallShapes } from '../core/contracts/call-shapes.ts';
import { DimValues } from '../core/dims/dim-values.ts';
import { type Dim, formatDim } from '../core/dims/dim.ts';
import { ShapeError } from '../core/errors.ts';
import type {
  Attributes,
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
} from '../core/contracts/primitive-function.ts';
import type { OpDefinition } from './define-op.ts';
import type { OperatorTable } from './operator.ts';

/**
 * The calls of a primitive function with the symbols in their attributes replaced by the numbers
 * that they have in a call with tensors of these shapes; those of an unknown operator stay. Throws ShapeError for a symbol that does
 * not follow from the primitive's types.
 */
export function bindAttributes(
  { body, params, results }: PrimitiveFunction,
  shapes: CallShapes,
  operators: OperatorTable,
): readonly OperatorCall[] {
  if (!body.some(({ attributes }) => Object.values(attributes).some(isSymbolic))) return body;
  const values = new DimValues();
  for (const [i, { shape }] of params.entries()) values.learn(shape, shapes.params[i]);
  for (const [i, { type }] of results.entries()) values.learn(type.shape, shapes.results[i]);
  return body.map((call) => ({
    ...call,
    attributes: bindCall(call, values, operators.get(call.op)?.attributes ?? {}),
  }));
}

function isSymbolic(value: AttributeValue): boolean {
  return Array.isArray(value) && value.some((item) => typeof item !== 'number');
}

function bindCall(
  { op, attributes }: OperatorCall,
  values: DimValues,
  specs: OpDefinition['attributes'],
): Attributes {
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
