import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { ScalarOperator } from '../ir/scalar-operators.ts';
import { formatType, type Type } from '../ir/type.ts';

/** The type of a scalar operator's result. Throws ShapeError or UnsupportedError. */
export function applyScalarOperator(
  op: ScalarOperator,
  inputs: readonly Type[],
  attributes: Attributes,
): Type {
  const complete = completeAttributes(op, attributes);
  if (inputs.length !== op.inputs.length) {
    const got = inputs.length === 1 ? '1 input' : `${inputs.length} inputs`;
    throw new ShapeError({ where: op.name, got, expected: String(op.inputs.length) });
  }
  for (const [i, wanted] of op.inputs.entries()) {
    const type = inputs[i];
    if (type === undefined) continue;
    const fits =
      wanted === 'tensor'
        ? type.kind === 'tensor'
        : type.kind === 'scalar' && type.scalar === 'int';
    if (fits) continue;
    const expected = wanted === 'tensor' ? 'a tensor' : 'int';
    throw new ShapeError({ where: `${op.name}: input ${i}`, got: formatType(type), expected });
  }
  checkAxis(op.name, inputs, complete);
  return op.result;
}

function checkAxis(name: string, [type]: readonly Type[], { axis }: Attributes): void {
  if (type?.kind !== 'tensor' || typeof axis !== 'number') return;
  const rank = type.shape.length;
  if (axis >= -rank && axis < rank) return;
  throw new ShapeError({
    where: `${name}: attribute axis`,
    got: `${axis} for ${formatType(type)}`,
    expected: rank === 0 ? 'a tensor with axes' : `an axis from ${-rank} to ${rank - 1}`,
  });
}
