import source from '../../../shaders/tensor-scatter.wgsl?raw';
import type { DType } from '../../core/dtype.ts';
import { elementCount } from '../../core/shape.ts';
import { boolAttribute } from '../attributes.ts';
import { invocationGrid, perInvocation, readInput, storeOutput } from '../element-kernel.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { placesOf } from './tensor-scatter.ts';

/** The kernel of `tensor_scatter`: an invocation for each element of the updates. */
export function lowerTensorScatter(call: LoweringCall): readonly KernelSpec[] {
  const { axis, run, rows } = placesOf(call.output.shape, call.attributes);
  const updates = operand(call.inputs, 1).shape;
  const { params, ...grid } = invocationGrid(elementCount(updates), call.caps);
  return [
    {
      name: 'tensor-scatter',
      source: beginOf(operand(call.inputs, 2).dtype) + perInvocation(source),
      ...grid,
      constants: { CIRCULAR: boolAttribute(call.attributes, 'circular') },
      params: {
        ...params,
        run: u32(run),
        rows: u32(rows),
        size: u32(call.output.shape[axis] ?? 0),
        steps: u32(updates[axis] ?? 0),
      },
      reads: [readInput('updates', 1), readInput('begins', 2)],
      writes: storeOutput(),
    },
  ];
}

/** Begins of int64 saturate: beyond int32 they lie outside of every axis. */
function beginOf(dtype: DType): string {
  if (dtype !== 'int64') return 'fn begin_of(i: u32) -> i32 { return load_begins(i); }\n';
  return `fn begin_of(i: u32) -> i32 {
  let wide = load_begins(i);
  let low = bitcast<i32>(wide.x);
  let high = bitcast<i32>(wide.y);
  if (high == low >> 31u) {
    return low;
  }
  return select(2147483647, i32(-2147483648), high < 0);
}
`;
}
