export type Point = readonly [x: number, y: number];

export interface Rectangle {
  readonly center: Point;
  /** The direction of its width, of length 1. */
  readonly along: Point;
  readonly width: number;
  readonly height: number;
}
