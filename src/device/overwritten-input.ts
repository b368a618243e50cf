import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import type { OperatorTable } from '../ops/operator.ts';
import type { DeviceTensor } from './device.ts';

/**
 * The parameter that a primitive changes in place, so that the result may lie where it does: the one that it names, or
 * that of a single call of an operator that overwrites an input. Undefined for all others.
 */
export function overwrittenInput(
  { body, results, params, inPlace }: PrimitiveFunction,
  operators: OperatorTable,
): number | undefined {
  if (inPlace !== undefined) return inPlace;
  const [call, ...others] = body;
  if (call === undefined || others.length > 0 || results.length !== 1) return undefined;
  const input = operators.get(call.op)?.storage?.overwrites;
  const value = input === undefined ? -1 : (call.inputs[input] ?? -1);
  const isReadOnce = call.inputs.filter((other) => other === value).length === 1;
  const isResult = results[0]?.value === params.length;
  return value >= 0 && value < params.length && isReadOnce && isResult ? value : undefined;
}

/** Returns true if two tensors begin at the same byte of the same buffer. */
export function isSamePlace(a: DeviceTensor, b: DeviceTensor): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}
