import { RuntimeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';

/** A value of the reference evaluator. Ints and floats of the host are numbers, `()` is an empty tuple. */
export type ReferenceValue =
  | HostTensor
  | number
  | ReferenceTuple
  | ReferenceData
  | ReferenceFunction;

interface ReferenceTuple {
  /** Tells values apart. */
  readonly kind: 'tuple';
  /** Its fields, in order. */
  readonly fields: readonly ReferenceValue[];
}

/** A value that a constructor made. */
interface ReferenceData {
  /** Tells values apart. */
  readonly kind: 'data';
  readonly name: string;
  /** Its fields, in order. */
  readonly fields: readonly ReferenceValue[];
}

export interface ReferenceFunction {
  /** Tells values apart. */
  readonly kind: 'function';
  readonly apply: (args: readonly ReferenceValue[]) => ReferenceValue;
}

/** Thrown by evaluators for programs that need more than host references of operators. */
class BeyondReference extends RuntimeError {}

export function beyondReference(got: string): BeyondReference {
  return new BeyondReference({
    where: 'evaluating',
    got,
    expected: 'a program of operators that have host references',
  });
}

export function isStructured(
  value: ReferenceValue,
): value is Exclude<ReferenceValue, HostTensor | number> {
  return typeof value === 'object' && !(value instanceof HostTensor);
}

export function asTensor(value: ReferenceValue | undefined): HostTensor {
  if (value instanceof HostTensor) return value;
  throw beyondReference('an operand that is no tensor');
}

export function asNumber(value: ReferenceValue | undefined): number {
  if (typeof value === 'number') return value;
  throw beyondReference('an operand that is no number');
}
