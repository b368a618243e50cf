import argReduceShader from '../../../shaders/arg-reduce.wgsl?raw';
import cumulativeShader from '../../../shaders/cumulative.wgsl?raw';
import { type DType, dtypeInfo, isBigInt } from '../../core/tensor/dtype.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import type { KernelSpec, LoweringCall } from '../lowering/lowering.ts';
import { wgslTypeName } from '../lowering/wgsl-literal.ts';
import { wideDeclarations } from '../lowering/wide-integers.ts';
import type { Extreme } from './arg-reduce.ts';
import { LONG_ROW, longSum } from './long-sum.ts';
import { combinationWgsl } from './reduction-wgsl.ts';
import { rowKernel } from './row-kernel.ts';

/** The kernel of `arg_max` and `arg_min`. */
export function lowerArgReduce(extreme: Extreme): (call: LoweringCall) => readonly KernelSpec[] {
  return (call) => [
    rowKernel(call, {
      name: 'arg-reduce',
      source: comparisonWgsl(extreme, call.inputs[0]?.dtype ?? 'float32') + argReduceShader,
      axis: intAttribute(call.attributes, 'axis'),
      meetsOnce: true,
      constants: { IS_LAST: boolAttribute(call.attributes, 'select_last') },
    }),
  ];
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
    define('f32', `(${less} < ${more}) | (is_nan(a) & !is_nan(b))`)
  );
}

/** The kernel of `cumulative`. */
export function lowerCumulative(call: LoweringCall): readonly KernelSpec[] {
  const { attributes, output } = call;
  const size =
    output.shape[
      normalizeAxis(intAttribute(attributes, 'axis'), output.shape.length, 'cumulative')
    ] ?? 1;
  const kind = boolAttribute(attributes, 'product') ? 'prod' : 'sum';
  const isLong = kind === 'sum' && dtypeInfo(output.dtype).category === 'float' && size > LONG_ROW;
  const long = longSum({ isLong, noPart: 'initial()' });
  return [
    rowKernel(call, {
      name: 'cumulative',
      source: combinationWgsl(kind, output.dtype) + long.source + cumulativeShader,
      axis: intAttribute(attributes, 'axis'),
      meetsOnce: false,
      constants: {
        ...long.constants,
        IS_EXCLUSIVE: boolAttribute(attributes, 'exclusive'),
        IS_REVERSE: boolAttribute(attributes, 'reverse'),
      },
    }),
  ];
}
