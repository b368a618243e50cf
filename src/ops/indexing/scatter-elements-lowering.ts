import { elementCount, rowMajorStrides } from '../../core/shape.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { axisOf } from './scatter-elements.ts';
import { lowerScatter, type ScatterPlaces } from './scatter-lowering.ts';

/** Kernels of `scatter_elements`. */
export function lowerScatterElements(call: LoweringCall): readonly KernelSpec[] {
  return lowerScatter(call, elementPlaces(call));
}

function elementPlaces(call: LoweringCall): ScatterPlaces {
  const { shape } = operand(call.inputs, 1);
  const strides = rowMajorStrides(call.output.shape);
  const axis = axisOf(call.attributes, shape.length);
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
