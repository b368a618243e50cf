/** A run of elements of a result, and its repetitions, each so many elements further on. */
export interface ElementRuns {
  readonly begin: number;
  readonly length: number;
  /** Repetitions, the outermost first. */
  readonly repeats: readonly { readonly count: number; readonly stride: number }[];
}

/**
 * The elements that units from `first` up to `end` write, in an order that both ends of a copy
 * keep.
 */
export type UnitWrites = (first: number, end: number) => readonly ElementRuns[];

/** Units that write so many elements each, one behind the other. */
export const writesInOrder =
  (length: number): UnitWrites =>
  (first, end) => [{ begin: first * length, length: (end - first) * length, repeats: [] }];

/** A result of matrices of some rows. */
interface WrittenMatrices {
  readonly rows: number;
  readonly columns: number;
  /** How many units write a matrix. */
  readonly parts: number;
  /** The elements of a matrix that some of its units write. */
  readonly ofParts: UnitWrites;
}

/** Units that are parts of matrices. */
export const writesOfMatrices =
  ({ rows, columns, parts, ofParts }: WrittenMatrices): UnitWrites =>
  (first, end) => {
    const written: ElementRuns[] = [];
    for (let matrix = Math.floor(first / parts); matrix * parts < end; matrix++) {
      const own = [first - matrix * parts, end - matrix * parts] as const;
      const runs = ofParts(Math.max(own[0], 0), Math.min(own[1], parts));
      const offset = matrix * rows * columns;
      written.push(...runs.map((run) => ({ ...run, begin: run.begin + offset })));
    }
    return written;
  };

/** Units of so many columns of a matrix; the last one may have fewer. */
export const writesOfColumns =
  ({ rows, columns }: Pick<WrittenMatrices, 'rows' | 'columns'>, width: number): UnitWrites =>
  (first, end) => {
    const begin = first * width;
    const length = Math.min(end * width, columns) - begin;
    return [{ begin, length, repeats: [{ count: rows, stride: columns }] }];
  };

/** Tiles of planes, by rows of tiles. */
interface WrittenTiles {
  readonly planes: number;
  readonly height: number;
  readonly width: number;
  /** Elements along a side of a tile. */
  readonly size: number;
  /** How many tiles a row of them has. */
  readonly across: number;
  /** How many tiles a unit writes. */
  readonly tiles: number;
}

/** Units of so many tiles that follow one another, of all planes: a part of a row, whole rows, another part. */
export const writesOfTiles =
  ({ planes, height, width, size, across, tiles }: WrittenTiles): UnitWrites =>
  (first, end) => {
    const last = Math.min(end * tiles, across * Math.ceil(height / size));
    const written: ElementRuns[] = [];
    for (let tile = first * tiles; tile < last; ) {
      const [row, column] = [Math.floor(tile / across), tile % across];
      const rows = column === 0 ? Math.max(Math.floor((last - tile) / across), 1) : 1;
      const next = Math.min(tile - column + rows * across, last);
      const [top, left] = [row * size, column * size];
      const isWhole = column === 0 && next - tile === rows * across;
      const lines = Math.min(top + rows * size, height) - top;
      const ofPlanes = { count: planes, stride: height * width };
      const right = Math.min(left + (next - tile) * size, width);
      written.push({
        begin: top * width + left,
        ...(isWhole
          ? { length: lines * width, repeats: [ofPlanes] }
          : { length: right - left, repeats: [ofPlanes, { count: lines, stride: width }] }),
      });
      tile = next;
    }
    return written;
  };
