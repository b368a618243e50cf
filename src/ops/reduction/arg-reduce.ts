import shader from '../../../shaders/arg-reduce.wgsl?raw';
import { type DType, isBigInt } from '../../core/dtype.ts';
import { normalizeAxis } from '../../core/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { NUMERIC } from '../elementwise/number-dtypes.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { formatType, operand, requireElements } from '../operand-checks.ts';
import { wgslTypeName } from '../wgsl-literal.ts';
import { wideDeclarations } from '../wide-integers.ts';
import { rowKernel } from './row-kernel.ts';

export type Extreme = 'max' | 'min';

function defineArgReduce<const Name extends string>(name: Name, extreme: Extreme) {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes: NUMERIC }],
    attributes: {
      axis: { type: 'int', default: 0 },
      select_last: { type: 'bool', default: false },
    },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      const given = intAttribute(attributes, 'axis');
      const axis = normalizeAxis(given, x.shape.length, `${name}: attribute axis`);
      const kept = x.shape.map((dim, at) => (at === axis ? dims.of(1) : dim));
      const sizes = { kept, reduced: x.shape.slice(axis, axis + 1) };
      requireElements(sizes, dims, () => ({
        where: name,
        got: formatType(x),
        expected: 'elements to choose from',
      }));
      return { dtype: 'int64', shape: kept };
    },
    fusion: { loads: () => 1 },
    lower: (call) => [
      rowKernel(call, {
        name: 'arg-reduce',
        source: comparisonWgsl(extreme, call.inputs[0]?.dtype ?? 'float32') + shader,
        axis: intAttribute(call.attributes, 'axis'),
        meetsOnce: true,
        constants: { IS_LAST: boolAttribute(call.attributes, 'select_last') },
      }),
    ],
    tolerance: EXACT,
  });
}

/** The type `Value` of the elements and the function `is_better`. */
function comparisonWgsl(extreme: Extreme, dtype: DType): string {
  const [less, more] = extreme === 'max' ? ['b', 'a'] : ['a', 'b'];
  const define = (type: string, expression: string) =>
    `alias Value = ${type};\nfn is_better(a: Value, b: Value) -> bool { return ${expression}; }\n`;
  if (isBigInt(dtype)) {
    const name = dtype === 'uint64' ? 'u64_lt' : 'i64_lt';
    const functions = Object.values(wideDeclarations(name)).join('\n');
    return `${functions}\n${define('vec2<u32>', `${name}(${less}, ${more})`)}`;
  }
  const type = wgslTypeName(dtype);
  if (type !== 'f32') return define(type, `${less} < ${more}`);
  return (
    'fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }\n' +
    define('f32', `${less} < ${more} || (is_nan(a) && !is_nan(b))`)
  );
}

export const ARG_REDUCE_OPS = [
  defineArgReduce('arg_max', 'max'),
  defineArgReduce('arg_min', 'min'),
] as const;

export type ArgReduceName = (typeof ARG_REDUCE_OPS)[number]['name'];
