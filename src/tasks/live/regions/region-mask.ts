import type { Size } from '../../pictures/picture-options.ts';
import type { Mask } from '../../segmentation/segmentation.ts';
import { pointIn, type Region } from './geometry.ts';

/** Shares from 0 to 1 for the pixels of a region, in rows of a size. */
interface RegionShares extends Size {
  readonly shares: ArrayLike<number>;
  readonly region: Region;
}

/** The mask of a region in the size of its picture: shares are interpolated linearly, and 0 beyond the region. */
export function pictureMask({ shares, region, ...own }: RegionShares, picture: Size): Mask {
  const { width, height } = picture;
  const data = new Uint8Array(width * height);
  // The ways in the region for a step to the right and one down in the picture.
  const [cos, sin] = [Math.cos(region.angle), Math.sin(region.angle)];
  const [alongX, alongY] = [own.width / region.width, own.height / region.height];
  const [left, top] = pointIn(region, 0, 0);
  const [x0, y0] = [0.5 - left, 0.5 - top];
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [dx, dy] = [x0 + column, y0 + row];
      const u = (dx * cos + dy * sin) * alongX;
      const v = (dy * cos - dx * sin) * alongY;
      if (u < 0 || v < 0 || u >= own.width || v >= own.height) continue;
      data[row * width + column] = Math.round(255 * shareAt(shares, own, u - 0.5, v - 0.5));
    }
  }
  return { width, height, data };
}

function shareAt(shares: ArrayLike<number>, { width, height }: Size, u: number, v: number): number {
  const [left, top] = [Math.floor(u), Math.floor(v)];
  const [right, low] = [u - left, v - top];
  const at = (x: number, y: number): number => {
    const [column, row] = [
      Math.min(Math.max(x, 0), width - 1),
      Math.min(Math.max(y, 0), height - 1),
    ];
    return shares[row * width + column] ?? 0;
  };
  const above = at(left, top) * (1 - right) + at(left + 1, top) * right;
  const below = at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right;
  return above * (1 - low) + below * low;
}
