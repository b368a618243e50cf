import type { Landmark } from './landmarks.ts';

type Vector = readonly [x: number, y: number, z: number];

/** Points of the mesh that mirror each other, of which neither speech nor blinking moves one much. */
const PAIRS = [
  [33, 263],
  [133, 362],
  [127, 356],
  [234, 454],
  [162, 389],
  [93, 323],
] as const;
/** The middle of the forehead and of the chin, one above the other in a face that looks straight ahead. */
const [FOREHEAD, CHIN] = [10, 152];
/** The outer corners of the eyes. */
const CORNERS = [33, 263] as const;

/**
 * A matrix of 4 x 4, column by column as `DOMMatrix` and WebGL take it, from a face's own coordinates to pixels of the picture with their
 * depth. In a face x goes to the right of the picture when it looks at the camera, y up, z out of it; the outer corners of the
 * eyes are 1 apart, the origin lies between them. It is derived from the landmarks: directions of pairs that mirror each other,
 * and from chin to forehead, made orthogonal.
 */
export function headPose(landmarks: readonly Landmark[]): readonly number[] {
  const at = (number: number): Vector => {
    const { x = 0, y = 0, z = 0 } = landmarks[number] ?? {};
    return [x, y, z];
  };
  const sum = PAIRS.reduce<Vector>(
    (all, [left, right]) => plus(all, unit(minus(at(right), at(left)))),
    [0, 0, 0],
  );
  const right = unit(sum);
  const upwards = minus(at(FOREHEAD), at(CHIN));
  const along = dot(upwards, right);
  const up = unit([
    upwards[0] - along * right[0],
    upwards[1] - along * right[1],
    upwards[2] - along * right[2],
  ]);
  const out = cross(right, up);
  const [left, other] = [at(CORNERS[0]), at(CORNERS[1])];
  const scale = Math.hypot(...minus(other, left));
  const middle = plus(left, other);
  const column = (vector: Vector): number[] => [...vector.map((part) => part * scale), 0];
  return [...column(right), ...column(up), ...column(out), ...middle.map((part) => part / 2), 1];
}

const plus = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** A vector of length 1. */
function unit(vector: Vector): Vector {
  const length = Math.hypot(...vector) || 1;
  return [vector[0] / length, vector[1] / length, vector[2] / length];
}
