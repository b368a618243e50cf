import type { BuiltinName } from '../../bytecode/builtins.ts';
import { intBuiltins } from '../../bytecode/int-builtins.ts';
import { truthOf } from '../../bytecode/truth-of.ts';
import { type DType, dtypeInfo, isDType } from '../../core/tensor/dtype.ts';
import { RuntimeError, ShapeError } from '../../core/errors.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { stringAttribute } from '../../ops/attributes.ts';
import { MAKE_CLOSURE } from '../ir/operators/machine-operators.ts';
import type { ScalarOperator } from '../ir/operators/scalar-operator.ts';
import {
  AS_ANY,
  ASSERT,
  CALL_PACKED,
  DEVICE_COPY,
  FLOAT,
  PRINT,
  SIZES_OF,
  STOP,
  TENSOR_OF,
} from '../ir/operators/scalar-operators.ts';
import {
  asNumber,
  asTensor,
  beyondReference,
  isStructured,
  type ReferenceValue,
} from './reference-value.ts';

/** Stand-ins for functions of JavaScript that a program calls. */
export type ReferenceFunctions = Readonly<
  Record<string, (...args: readonly ReferenceValue[]) => ReferenceValue>
>;

const UNIT: ReferenceValue = { kind: 'tuple', fields: [] };

const INT_BUILTINS: Readonly<
  Partial<Record<BuiltinName, (a: ReferenceValue, b: ReferenceValue) => number>>
> = intBuiltins(() => {
  throw beyondReference('an operand that is no int');
});

const FLOAT_BUILTINS: Readonly<Partial<Record<BuiltinName, (a: number, b: number) => number>>> = {
  float_add: (a, b) => a + b,
  float_sub: (a, b) => a - b,
  float_mul: (a, b) => a * b,
  float_div: (a, b) => a / b,
  float_pow: (a, b) => a ** b,
  float_eq: (a, b) => Number(a === b),
  float_lt: (a, b) => Number(a < b),
  float_from_int: (a) => a,
  int_from_float: (a) => Math.floor(a) + 0,
};

export function evaluateScalarOperator(
  { name, builtin }: ScalarOperator,
  args: readonly ReferenceValue[],
  { attributes, functions }: { attributes: Attributes; functions: ReferenceFunctions },
): ReferenceValue {
  switch (name) {
    case DEVICE_COPY:
      return asTensor(args[0]);
    case AS_ANY:
      return args[0] ?? UNIT;
    case STOP:
      throw new RuntimeError(stringAttribute(attributes, 'message'));
    case ASSERT:
      if (isTrue(args[0] ?? 0)) return UNIT;
      throw new RuntimeError(stringAttribute(attributes, 'message'));
    case PRINT:
      return UNIT;
    case FLOAT:
      return Number(attributes['value']);
    case TENSOR_OF:
      return tensorOf(args, attributes);
    case SIZES_OF:
      return sizesOf(args.map(asNumber));
    case MAKE_CLOSURE:
      return closure(args);
    case CALL_PACKED: {
      const called = stringAttribute(attributes, 'name');
      const fn = functions[called];
      if (fn === undefined) throw beyondReference(`a call of the function ${called} of JavaScript`);
      return fn(...args);
    }
    case 'dim':
      return asTensor(args[0]).shape[Number(attributes['axis'])] ?? -1;
    default: {
      const [a = 0, b = 0] = args;
      const onInts = builtin && INT_BUILTINS[builtin];
      if (onInts !== undefined) return onInts(a, b);
      const onFloats = builtin && FLOAT_BUILTINS[builtin];
      if (onFloats !== undefined) return onFloats(asNumber(a), asNumber(b));
      throw beyondReference(`the operator ${name}`);
    }
  }
}

/** Returns true if a condition, a tensor or a number, is not 0. */
export function isTrue(value: ReferenceValue): boolean {
  return value instanceof HostTensor ? truthOf(value) !== 0 : value !== 0;
}

function closure([fn, ...captured]: readonly ReferenceValue[]): ReferenceValue {
  if (fn === undefined || !isStructured(fn) || fn.kind !== 'function') {
    throw beyondReference('a closure of what is no function');
  }
  return { kind: 'function', apply: (args) => fn.apply([...args, ...captured]) };
}

function tensorOf(args: readonly ReferenceValue[], { dtype }: Attributes): HostTensor {
  if (typeof dtype !== 'string' || !isDType(dtype)) throw beyondReference('no dtype');
  const elements = args.map((value) => asElement(dtype, asNumber(value)));
  return HostTensor.from(dtype, [elements.length], elements);
}

/** A number as an array of the dtype holds it: towards zero for integers, as `cast` does. */
function asElement(dtype: DType, value: number): number {
  if (dtype === 'float16') return numberToFloat16(value);
  if (dtype === 'bool') return Number(value !== 0);
  if (dtypeInfo(dtype).category === 'float') return value;
  return Number.isFinite(value) ? Math.trunc(value) : 0;
}

function sizesOf(sizes: readonly number[]): HostTensor {
  for (const [axis, size] of sizes.entries()) {
    if (size >= 0) continue;
    const got = `${size} for dimension ${axis}`;
    throw new ShapeError({ where: SIZES_OF, got, expected: 'a dimension from 0 up' });
  }
  return HostTensor.zeros('int32', [0, ...sizes]);
}
