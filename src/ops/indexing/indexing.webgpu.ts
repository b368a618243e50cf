import source from '../../../shaders/tensor-scatter.wgsl?raw';
import type { DType } from '../../core/tensor/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/tensor/shape.ts';
import { boolAttribute } from '../attributes.ts';
import {
  invocationGrid,
  perInvocation,
  readInput,
  storeOutput,
} from '../lowering/element-kernel.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { scatterAxisOf } from './scatter-elements.ts';
import { lowerScatter, type ScatterPlaces } from './scatter-lowering.ts';
import { tuplesOf } from './scatter-nd.ts';
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

/** Kernels of `scatter_elements`. */
export function lowerScatterElements(call: LoweringCall): readonly KernelSpec[] {
  return lowerScatter(call, elementPlaces(call));
}

function elementPlaces(call: LoweringCall): ScatterPlaces {
  const { shape } = operand(call.inputs, 1);
  const strides = rowMajorStrides(call.output.shape);
  const axis = scatterAxisOf(call.attributes, shape.length);
  const lines = shape.map((_, i) => {
    const stride = i === axis ? '' : `  row += rest % params.size${i} * params.stride${i};\n`;
    return `${stride}  rest /= params.size${i};\n`;
  });
  const source = `fn row_of(update: u32) -> u32 {
  let place = place_at(update, params.axis_size);
  if (place >= params.axis_size) {
    return OUTSIDE;
  }
  var row = place * params.axis_stride;
  var rest = update;
${lines.reverse().join('')}  return row;
}
`;
  const sizes = shape.flatMap((size, i) => [
    [`size${i}`, u32(size)] as const,
    [`stride${i}`, u32(strides[i] ?? 1)] as const,
  ]);
  return {
    run: 1,
    updateRows: elementCount(shape),
    source,
    params: {
      axis_size: u32(call.output.shape[axis] ?? 1),
      axis_stride: u32(strides[axis] ?? 1),
      ...Object.fromEntries(sizes),
    },
  };
}

/** Kernels of `scatter_nd`. */
export function lowerScatterNd(call: LoweringCall): readonly KernelSpec[] {
  return lowerScatter(call, tuplesToRows(call));
}

function tuplesToRows(call: LoweringCall): ScatterPlaces {
  const { sizes, count, run } = tuplesOf(call.output.shape, operand(call.inputs, 1).shape);
  const strides = rowMajorStrides(sizes);
  const lines = sizes.map(
    (_, k) => `  let place${k} = place_at(update * ${sizes.length}u + ${k}u, params.size${k});
  if (place${k} >= params.size${k}) {
    return OUTSIDE;
  }
  row += place${k} * params.stride${k};
`,
  );
  const params = sizes.flatMap((size, k) => [
    [`size${k}`, u32(size)] as const,
    [`stride${k}`, u32(strides[k] ?? 1)] as const,
  ]);
  const source = `fn row_of(update: u32) -> u32 {\n  var row = 0u;\n${lines.join('')}  return row;\n}\n`;
  return { run, updateRows: count, source, params: Object.fromEntries(params) };
}
