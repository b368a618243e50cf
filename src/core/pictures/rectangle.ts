/** A point in pixels. */
export type Point = readonly [x: number, y: number];

/** A rectangle at any angle. */
export interface Rectangle {
  /** Its middle. */
  readonly center: Point;
  /** The direction of its width, of length 1. */
  readonly along: Point;
  readonly width: number;
  readonly height: number;
}
