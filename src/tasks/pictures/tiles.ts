import type { Rectangle } from '../../core/pictures/rectangle.ts';
import type { Size } from './picture-options.ts';

/** A part of a picture that a model sees, and the part of it whose result counts. */
export interface Tile {
  /**
   * The left edge of the tile in the picture; below 0 where the tile reaches beyond the picture.
   */
  readonly left: number;
  readonly top: number;
  readonly size: Size;
  /** The part that counts, in pixels of the picture, without the last column and row. */
  readonly kept: {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  };
}

/**
 * Tiles of one size that cover a picture, each with a margin around what counts, but at the edges of the picture. A picture that is
 * smaller than a tile lies at the left and top of it.
 */
export function tilesOf(picture: Size, size: Size, margin: number): readonly Tile[] {
  const rows = spansOf(picture.height, size.height, margin);
  return rows.flatMap((row) =>
    spansOf(picture.width, size.width, margin).map((column) => ({
      left: column.begin,
      top: row.begin,
      size: { width: size.width, height: size.height },
      kept: { left: column.from, top: row.from, right: column.to, bottom: row.to },
    })),
  );
}

interface Span {
  readonly begin: number;
  readonly from: number;
  readonly to: number;
}

function spansOf(length: number, size: number, wanted: number): readonly Span[] {
  if (length <= size) return [{ begin: 0, from: 0, to: length }];
  // Something of each tile has to count.
  const margin = Math.min(wanted, Math.floor((size - 1) / 2));
  const spans: Span[] = [];
  for (let from = 0; from < length; ) {
    const begin = Math.min(Math.max(0, from - margin), length - size);
    const isLast = begin + size >= length;
    const to = isLast ? length : begin + size - margin;
    spans.push({ begin, from, to });
    from = to;
  }
  return spans;
}

/** A tile as a rectangle of the picture; the pixels beyond the picture are those of its edge. */
export function rectangleOf({ left, top, size: { width, height } }: Tile): Rectangle {
  return { center: [left + (width - 1) / 2, top + (height - 1) / 2], along: [1, 0], width, height };
}
