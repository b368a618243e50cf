/** The steps that turn a picture into a tensor, where its session is: plain data. */
export interface PictureSteps {
  /** Columns and rows of the picture itself. */
  readonly source: readonly [width: number, height: number];
  readonly resized: readonly [width: number, height: number];
  /** A rectangle that the resized picture is put onto, where it may be cut off. */
  readonly frame: readonly [left: number, top: number, width: number, height: number];
  /** The tensor's own; behind the frame are zeros. */
  readonly padded: readonly [width: number, height: number];
  /** The weights of resizing along a row; `columns` has those along a column. */
  readonly rows: AxisWeights;
  readonly columns: AxisWeights;
  /** Levels from 0 to 255 of red, green and blue around the picture in its frame. */
  readonly fill: readonly [red: number, green: number, blue: number];
  /** The colours of the channels in order. */
  readonly order: readonly number[];
  /** The bits of the elements that levels become: 256 for each channel. */
  readonly levels: Int32Array;
  readonly isGrey: boolean;
  /** True if channels come last. */
  readonly isLast: boolean;
  /** Bytes of an element. */
  readonly elementSize: 1 | 2 | 4;
}

/** The pixels of the source that each pixel along an axis is a weighted sum of. */
export interface AxisWeights {
  /** The first pixel of the source, for each of the result. */
  readonly first: Int32Array;
  /** How many there are at most. */
  readonly taps: number;
  /** Integers in units of 2^-22, `taps` for each pixel of the result; those not needed are 0. */
  readonly weights: Int32Array;
}
