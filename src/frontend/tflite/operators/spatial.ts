import type { Expr } from '../../../compiler/ir/expr.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';

interface Resize {
  readonly alignCorners: boolean;
  readonly halfPixel: boolean;
}

/** (N, H, W, C) in another height and width. */
function resize(node: LiteNode, mode: 'linear' | 'nearest', { alignCorners, halfPixel }: Resize) {
  const sizes = node.longs(1);
  const coordinates = halfPixel ? 'half_pixel' : alignCorners ? 'align_corners' : 'asymmetric';
  const rounding = halfPixel || alignCorners ? 'round_prefer_ceil' : 'floor';
  const planes = node.channelsSecond(node.input(0));
  const resized = node.one('Resize', [planes, undefined, undefined, sizes], {
    mode,
    coordinate_transformation_mode: coordinates,
    nearest_mode: rounding,
    axes: [2, 3],
  });
  return node.channelsLast(resized);
}

const bilinear = (node: LiteNode): Expr => resize(node, 'linear', node.options('resizeBilinear'));
const nearest = (node: LiteNode): Expr => resize(node, 'nearest', node.options('resizeNearest'));

export const SPATIAL_IMPORTERS: LiteImporters = {
  RESIZE_BILINEAR: becomes('resample resize_table transpose', bilinear),
  RESIZE_NEAREST_NEIGHBOR: becomes('repeat gather resize_table transpose', nearest),
};
