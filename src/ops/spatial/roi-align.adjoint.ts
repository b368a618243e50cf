import { UnsupportedError } from '../../core/errors.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { ExpandedCall } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { sampleBetween, type SampleTap } from '../adjoint/sample-between.ts';
import { boolAttribute, floatAttribute, intAttribute } from '../attributes.ts';

/** Means of samples of the image in each cell. */
export const roiAlignAdjoint = byExpansion((call) => {
  const { inputs, output, attributes, graph } = call;
  const [x, rois, images] = inputs;
  if (x === undefined || rois === undefined || images === undefined) return output;
  const samples = intAttribute(attributes, 'sampling');
  requireFixed(samples, boolAttribute(attributes, 'max'));
  const { dims } = graph;
  const [batch = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [regions = 1, , rows = 1, columns = 1] = output.shape;
  const last = graph.size([dims.sub(batch, 1)], 'int64');
  const limit = typeof last === 'number' ? graph.scalar(last, 'int64') : last;
  const first = graph.call('maximum', [graph.cast(images, 'int64'), graph.scalar(0, 'int64')]);
  const chosen = graph.call('gather', [x, graph.call('minimum', [first, limit])], { axis: 0 });
  const [down, across] = [dims.mul(rows, samples), dims.mul(columns, samples)];
  const along = (axis: number, cells: Size, size: Size): Axis => {
    const place = samplePlaces(call, { axis, cells, samples });
    const shape =
      axis === 1
        ? [regions, 1, dims.mul(cells, samples), 1]
        : [regions, 1, 1, dims.mul(cells, samples)];
    return axisTaps(call, graph.reshape(place, shape), size);
  };
  const [vertical, horizontal] = [along(1, rows, height), along(0, columns, width)];
  const flat = ({ place, weight }: SampleTap): SampleTap => {
    const whole = (of: GraphTensor): GraphTensor =>
      graph.reshape(graph.broadcastTo(of, [regions, 1, down, across]), [
        regions,
        1,
        dims.mul(down, across),
      ]);
    return { place: whole(place), weight: whole(weight) };
  };
  const found = sampleBetween(graph, {
    image: graph.reshape(chosen, [regions, channels, height, width]),
    leading: 2,
    taps: [vertical.taps.map(flat), horizontal.taps.map(flat)],
  });
  const split = graph.reshape(found, [regions, channels, rows, samples, columns, samples]);
  return graph.call('reduce_mean', [split], { axes: [3, 5] });
});

type Size = GraphTensor['shape'][number];

interface Axis {
  readonly taps: readonly SampleTap[];
}

function requireFixed(samples: number, isMax: boolean): void {
  if (samples > 0 && !isMax) return;
  throw new UnsupportedError({
    where: 'roi_align',
    got: isMax ? 'a derivative of largest samples' : 'a derivative of samples as regions need them',
    expected: 'means of a fixed number of samples',
    remedy: 'Set sampling to the number of samples along a cell.',
  });
}

/** Where samples of regions are along an axis: (regions, cells * samples). */
function samplePlaces(
  { inputs, output, attributes, graph }: ExpandedCall,
  {
    axis,
    cells,
    samples,
  }: { readonly axis: number; readonly cells: Size; readonly samples: number },
): GraphTensor {
  const [, rois = output] = inputs;
  const { dtype } = rois;
  const isHalfPixel = boolAttribute(attributes, 'half_pixel');
  const scale = floatAttribute(attributes, 'scale');
  const corner = (index: number): GraphTensor => {
    const at = graph.sub(graph.mul(graph.at(rois, 1, index), scale), isHalfPixel ? 0.5 : 0);
    return graph.reshape(at, [rois.shape[0] ?? 1, 1]);
  };
  const [begin, end] = [corner(axis), corner(axis + 2)];
  const extent = graph.sub(end, begin);
  const size = isHalfPixel ? extent : graph.call('maximum', [extent, graph.scalar(1, dtype)]);
  const total = graph.dims.mul(cells, samples);
  const numbers = graph.reshape(graph.cast(graph.count(total), dtype), [1, total]);
  const shares = graph.div(graph.add(numbers, 0.5), graph.size([total], dtype));
  return graph.add(begin, graph.mul(shares, size));
}

/** The two elements around a place; nothing further than 1 outside. */
function axisTaps({ graph }: ExpandedCall, at: GraphTensor, size: Size): Axis {
  const { dtype } = at;
  const edge = graph.size([size], dtype);
  const limit = typeof edge === 'number' ? graph.scalar(edge, dtype) : edge;
  const last = graph.sub(limit, 1);
  const isBelow = graph.less(at, -1);
  const isOutside = graph.where(isBelow, isBelow, graph.less(limit, at));
  const clamped = (place: GraphTensor): GraphTensor =>
    graph.call('minimum', [graph.call('maximum', [place, graph.scalar(0, dtype)]), last]);
  const inside = clamped(at);
  const below = graph.unary('floor', inside);
  const share = graph.sub(inside, below);
  const rest = graph.sub(graph.scalar(1, dtype), share);
  return {
    taps: [
      { place: below, weight: graph.where(isOutside, 0, rest) },
      { place: clamped(graph.add(below, 1)), weight: graph.where(isOutside, 0, share) },
    ],
  };
}
