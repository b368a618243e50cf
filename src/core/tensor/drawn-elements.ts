/** Which elements of a tensor are the colours of a picture, and how. */
export interface DrawnElements {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** Elements from one pixel to the next. */
  readonly pixelStep: number;
  /** The indices of the first elements of red, green and blue. */
  readonly begins: readonly [red: number, green: number, blue: number];
  /** A colour from 0 to 1 is `element * factor + shift`. */
  readonly factors: readonly [red: number, green: number, blue: number];
  /** The summand of each colour; see `factors`. */
  readonly shifts: readonly [red: number, green: number, blue: number];
  /** Elements are logits, and go through a sigmoid first. */
  readonly hasSigmoid: boolean;
  /** The first colour is the opacity of black. */
  readonly isOpacity: boolean;
}
