import type { AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { ExpandedCall } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { floatAttribute } from '../attributes.ts';

/** The largest of a row's elements in a cell, then the largest of the rows'. Corners are rounded. */
const expanded = byExpansion((call) => {
  const { inputs, output, graph } = call;
  const [x, rois] = inputs;
  if (x === undefined || rois === undefined) return output;
  const [images = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [regions = 1, , rows = 1, columns = 1] = output.shape;
  const last = graph.size([graph.dims.sub(images, 1)], rois.dtype);
  const limit = typeof last === 'number' ? graph.scalar(last, rois.dtype) : last;
  const first = graph.call('maximum', [graph.at(rois, 1, 0), graph.scalar(0, rois.dtype)]);
  const image = graph.cast(graph.call('minimum', [first, limit]), 'int64');
  const planes = graph.call('gather', [x, image], { axis: 0 });
  const across = insideCells(call, { axis: 0, size: width, cells: columns });
  const byColumn = largest(call, {
    values: graph.reshape(planes, [regions, channels, height, 1, width]),
    inside: graph.reshape(across, [regions, 1, 1, columns, width]),
  });
  const down = insideCells(call, { axis: 1, size: height, cells: rows });
  const found = largest(call, {
    values: graph.reshape(graph.transpose(byColumn, [0, 1, 3, 2]), [
      regions,
      channels,
      1,
      columns,
      height,
    ]),
    inside: graph.reshape(down, [regions, 1, rows, 1, height]),
  });
  // Cells without elements.
  return graph.where(graph.equal(found, Number.NEGATIVE_INFINITY), 0, found);
});

function largest(
  { graph }: ExpandedCall,
  { values, inside }: { readonly values: GraphTensor; readonly inside: GraphTensor },
): GraphTensor {
  const chosen = graph.where(inside, values, Number.NEGATIVE_INFINITY);
  return graph.call('reduce_max', [chosen], { axes: [chosen.shape.length - 1] });
}

interface CellAxis {
  /** 0 for columns, 1 for rows, as corners have them. */
  readonly axis: number;
  readonly size: GraphTensor['shape'][number];
  readonly cells: GraphTensor['shape'][number];
}

/** The condition that an element of an axis lies in a cell of a region: (regions, cells, size). */
function insideCells({ inputs, attributes, graph }: ExpandedCall, axis: CellAxis): GraphTensor {
  const [, rois] = inputs;
  if (rois === undefined) throw new Error('internal: no regions');
  const { dtype } = rois;
  const scale = floatAttribute(attributes, 'scale');
  // Halves away from zero.
  const corner = (index: number): GraphTensor => {
    const at = graph.mul(graph.at(rois, 1, index), scale);
    const size = graph.unary('floor', graph.add(graph.unary('abs', at), 0.5));
    return graph.reshape(graph.mul(graph.unary('sign', at), size), [rois.shape[0] ?? 1, 1, 1]);
  };
  const [low, high] = [corner(1 + axis.axis), corner(3 + axis.axis)];
  const one = graph.scalar(1, dtype);
  const extent = graph.call('maximum', [graph.add(graph.sub(high, low), 1), one]);
  const numbers = (size: CellAxis['size'], shape: readonly CellAxis['size'][]): GraphTensor =>
    graph.reshape(graph.cast(graph.count(size), dtype), shape);
  const cell = numbers(axis.cells, [1, axis.cells, 1]);
  const count = graph.size([axis.cells], dtype);
  const bound = (index: GraphTensor, rounding: string): GraphTensor =>
    graph.add(graph.unary(rounding, graph.div(graph.mul(index, extent), count)), low);
  const [begin, end] = [bound(cell, 'floor'), bound(graph.add(cell, 1), 'ceil')];
  const place = numbers(axis.size, [1, 1, axis.size]);
  const isAfter = graph.lessEqual(begin, place);
  return graph.where(isAfter, graph.less(place, end), isAfter);
}

export const maxRoiPoolAdjoint: AdjointRule = (call) => {
  const wants = (input: number): boolean => input === 0 && call.wants(0);
  return expanded({ ...call, wants });
};
