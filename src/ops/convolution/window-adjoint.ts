import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { dimsAttribute, intAttribute, intsAttribute } from '../attributes.ts';

/** A window as the adjoints of convolutions need it: complete lists, one element for each axis. */
interface WindowLists {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly begins: readonly Dim[];
  readonly ends: readonly Dim[];
  readonly groups: number;
}

/** The lists of a call over a number of spatial axes. */
export function windowLists(attributes: Attributes, rank: number): WindowLists {
  const ints = (name: string): readonly number[] => {
    const given = intsAttribute(attributes, name);
    return given.length === 0 ? new Array<number>(rank).fill(1) : given;
  };
  const pads = dimsAttribute(attributes, 'pads');
  const all = Array.from({ length: 2 * rank }, (_, i) => pads[i] ?? 0);
  return {
    strides: ints('strides'),
    dilations: ints('dilations'),
    begins: all.slice(0, rank),
    ends: all.slice(rank),
    groups: attributes['groups'] === undefined ? 1 : intAttribute(attributes, 'groups'),
  };
}

/** A convolution over one to three spatial axes; of one axis it is one of two. */
export function convolve(
  graph: GraphBuilder,
  [x, w]: readonly [GraphTensor, GraphTensor],
  { strides, dilations, begins, ends, groups }: WindowLists,
): GraphTensor {
  if (x.shape.length === 3) {
    const flat = (of: GraphTensor): GraphTensor =>
      graph.reshape(of, [...of.shape.slice(0, 2), 1, ...of.shape.slice(2)]);
    const image = convolve(graph, [flat(x), flat(w)], {
      strides: [1, ...strides],
      dilations: [1, ...dilations],
      begins: [0, ...begins],
      ends: [0, ...ends],
      groups,
    });
    return graph.reshape(image, image.shape.toSpliced(2, 1));
  }
  const attributes = { strides, dilations, pads: [...begins, ...ends], groups };
  return graph.call(x.shape.length === 4 ? 'conv2d' : 'conv3d', [x, w], attributes);
}

/**
 * The cotangent of the weights of a convolution: the image convolved by the cotangent of the result,
 * images being channels, with strides and dilations in each other's place.
 */
export function weightCotangent(
  graph: GraphBuilder,
  { image, result, weights }: Readonly<Record<'image' | 'result' | 'weights', GraphTensor>>,
  window: WindowLists,
): GraphTensor {
  const { groups } = window;
  const [batch = 1, channels = 1, ...sizes] = image.shape;
  const each = graph.dims.floordiv(channels, groups);
  const axes = sizes.map((_, axis) => axis);
  const split = graph.reshape(image, [batch, groups, each, ...sizes]);
  const moved = graph.transpose(split, [2, 1, 0, ...axes.map((axis) => axis + 3)]);
  const images = graph.reshape(moved, [each, graph.dims.mul(batch, groups), ...sizes]);
  const swap = [1, 0, ...axes.map((axis) => axis + 2)];
  const kernels = graph.transpose(result, swap);
  let found = convolve(graph, [images, kernels], {
    ...window,
    strides: window.dilations,
    dilations: window.strides,
  });
  // A stride that does not come out even leaves more places than the window has.
  for (const axis of axes) {
    found = graph.sliceAxis(found, axis + 2, { to: weights.shape[axis + 2] ?? 1 });
  }
  return graph.transpose(found, swap);
}

/** The sum over everything but the channels. */
export function biasCotangent(graph: GraphBuilder, cotangent: GraphTensor): GraphTensor {
  const axes = cotangent.shape.flatMap((_, axis) => (axis === 1 ? [] : [axis]));
  return graph.reshape(graph.sum(cotangent, axes), cotangent.shape.slice(1, 2));
}
