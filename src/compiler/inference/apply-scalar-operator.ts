import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { CallExpr } from '../ir/expr.ts';
import type { ScalarInput, ScalarOperator } from '../ir/operators/scalar-operator.ts';
import { formatType, type Type } from '../ir/type.ts';

/** The type of a scalar operator's result. Throws ShapeError or UnsupportedError. */
export function applyScalarOperator(
  op: ScalarOperator,
  inputs: readonly Type[],
  { attributes, typeArguments = [] }: Pick<CallExpr, 'attributes' | 'typeArguments'>,
): Type {
  const complete = completeAttributes(op, attributes);
  const isOpen = op.rest !== undefined && inputs.length > op.inputs.length;
  if (inputs.length !== op.inputs.length && !isOpen) {
    const got = inputs.length === 1 ? '1 input' : `${inputs.length} inputs`;
    throw new ShapeError({ where: op.name, got, expected: String(op.inputs.length) });
  }
  for (const [i, type] of inputs.entries()) {
    const wanted = op.inputs[i] ?? op.rest;
    if (wanted === undefined || fits(type, wanted)) continue;
    const expected = EXPECTED[wanted];
    throw new ShapeError({ where: `${op.name}: input ${i}`, got: formatType(type), expected });
  }
  checkAxis(op.name, inputs, complete);
  if (typeof op.result === 'function') return op.result(inputs, complete, typeArguments);
  if (op.result !== 'operand') return op.result;
  const [operand] = inputs;
  if (operand === undefined) throw new Error(`internal: ${op.name} without an operand`);
  return operand;
}

const EXPECTED: Readonly<Record<ScalarInput, string>> = {
  tensor: 'a tensor',
  int: 'int',
  float: 'float',
  number: 'int or float',
  condition: 'Tensor[(), bool] or int',
  storage: 'storage',
  shape: 'shape',
  shape_heap: 'shape_heap',
  function: 'a function',
  any: 'a value',
};

function fits(type: Type, wanted: ScalarInput): boolean {
  if (wanted === 'any') return true;
  if (wanted === 'number') return fits(type, 'int') || fits(type, 'float');
  if (wanted === 'condition') {
    const isBool = type.kind === 'tensor' && type.dtype === 'bool' && type.shape.length === 0;
    return isBool || fits(type, 'int');
  }
  if (wanted === 'tensor' || wanted === 'function') return type.kind === wanted;
  return type.kind === 'scalar' && type.scalar === wanted;
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
