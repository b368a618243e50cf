import { rowMajorStrides } from '../../core/shape.ts';
import { type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { lowerScatter, type ScatterPlaces } from './scatter-lowering.ts';
import { tuplesOf } from './scatter-nd.ts';

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
