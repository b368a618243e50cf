import { type Dim, evaluateDim, formatDim } from '../core/dims/dim.ts';
import { RuntimeError, ShapeError } from '../core/errors.ts';
import type { PrimitiveFunction, TensorType } from '../core/contracts/primitive-function.ts';
import type { Device } from '../device/device.ts';
import { describeValue, TensorValue, type Value } from './values/value.ts';

/**
 * Returns true if a tensor has a type. `symbols` has the sizes that earlier arguments bound; this
 * one adds those of its own symbols.
 */
export function fits(tensor: TensorValue, type: TensorType, symbols: Map<string, number>): boolean {
  const { shape } = tensor;
  if (tensor.dtype !== type.dtype || shape.length !== type.shape.length) return false;
  for (let axis = 0; axis < shape.length; axis++) {
    const expected = type.shape[axis];
    const actual = shape[axis];
    if (expected === actual || expected === '?') continue;
    if (typeof expected === 'number' || !dimFits(expected, actual, symbols)) return false;
  }
  return true;
}

/** A name is bound where it is first met; an expression over unbound names fits anything. */
function dimFits(
  expected: Dim | undefined,
  actual: number | undefined,
  symbols: Map<string, number>,
): boolean {
  if (expected === undefined || actual === undefined) return false;
  const known = evaluateDim(expected, symbols);
  if (known !== undefined) return known === actual;
  if (typeof expected === 'string') symbols.set(expected, actual);
  return true;
}

export function readValues({ body }: PrimitiveFunction): ReadonlySet<number> {
  return new Set(body.flatMap(({ inputs }) => inputs));
}

interface Misplaced {
  readonly kernel: string;
  readonly index: number;
  readonly device: Device;
  readonly value: Value;
}

export function notOnDevice({ kernel, index, device, value }: Misplaced): RuntimeError {
  const isTensor = value instanceof TensorValue;
  const elsewhere = isTensor ? ` on ${value.storage.device.info.name}` : '';
  return new RuntimeError({
    where: `kernel ${kernel}, argument ${index}`,
    got: `${describeValue(value)}${elsewhere}`,
    expected: `a tensor on ${device.info.name}`,
    remedy: isTensor ? 'Place a vm.builtin.to_device before the call.' : undefined,
  });
}

export function wrongType(
  kernel: string,
  index: number,
  { tensor, type }: { tensor: Value; type: TensorType | undefined },
): ShapeError {
  return new ShapeError({
    where: `kernel ${kernel}, argument ${index}`,
    got: describeValue(tensor),
    expected:
      type === undefined
        ? 'no argument'
        : `${type.dtype} (${type.shape.map(formatDim).join(', ')})`,
  });
}

export function tooMany(kernel: string, expected: number, got: number): RuntimeError {
  return new RuntimeError({
    where: `kernel ${kernel}`,
    got: `${got} arguments`,
    expected: `${expected}: the inputs and the destinations`,
  });
}
