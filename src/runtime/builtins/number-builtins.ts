import type { BuiltinName } from '../../bytecode/builtins.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { RuntimeError, ShapeError } from '../../core/errors.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { FloatValue, type PackedFunction, type Value } from '../value.ts';
import type { VmState } from '../vm-state.ts';
import { expectDType, expectFloat, expectInt, numberOf } from './operand.ts';

/** Floats of the host, and tensors of its numbers. */
export function numberBuiltins(state: VmState) {
  return {
    float_add: arithmetic((a, b) => a + b),
    float_sub: arithmetic((a, b) => a - b),
    float_mul: arithmetic((a, b) => a * b),
    float_div: arithmetic((a, b) => a / b),
    float_pow: arithmetic((a, b) => a ** b),
    float_eq: comparison((a, b) => a === b),
    float_lt: comparison((a, b) => a < b),
    float_from_int: (value: Value) => new FloatValue(expectInt(value, 'float_from_int')),
    int_from_float: (value: Value) => {
      const float = expectFloat(value, 'int_from_float');
      const int = Math.floor(float) + 0;
      if (Number.isSafeInteger(int)) return int;
      throw new RuntimeError({
        where: 'int_from_float',
        got: `${float}`,
        expected: 'a number between -2^53 and 2^53',
      });
    },
    make_tensor: (dtype: Value, device: Value, ...elements: Value[]) => {
      // A recording would repeat the elements.
      state.recording?.abandon();
      const { dtype: type } = expectDType(dtype, 'make_tensor');
      const values = elements.map((element) => asElement(type, numberOf(element, 'make_tensor')));
      const tensor = HostTensor.from(type, [values.length], values);
      return state.upload(tensor, expectInt(device, 'make_tensor'));
    },
    make_sizes: (...sizes: Value[]) => {
      const dims = sizes.map((size, axis) => {
        const dim = expectInt(size, 'make_sizes');
        if (dim >= 0) return dim;
        const got = `${dim} for dimension ${axis}`;
        throw new ShapeError({ where: 'make_sizes', got, expected: 'a dimension from 0 up' });
      });
      return state.upload(HostTensor.zeros('int32', [0, ...dims]), 0);
    },
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

/** A number as an array of the dtype holds it: towards zero for integers, as `cast` does. */
function asElement(dtype: DType, value: number): number {
  if (dtype === 'float16') return numberToFloat16(value);
  if (dtype === 'bool') return Number(value !== 0);
  if (dtypeInfo(dtype).category === 'float') return value;
  return Number.isFinite(value) ? Math.trunc(value) : 0;
}

function arithmetic(compute: (a: number, b: number) => number) {
  return (a: Value, b: Value): FloatValue =>
    new FloatValue(compute(expectFloat(a, 'float arithmetic'), expectFloat(b, 'float arithmetic')));
}

function comparison(holds: (a: number, b: number) => boolean) {
  return (a: Value, b: Value): number =>
    Number(holds(expectFloat(a, 'float arithmetic'), expectFloat(b, 'float arithmetic')));
}
