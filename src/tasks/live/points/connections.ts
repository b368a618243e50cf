import { LEFT_EYE, LEFT_IRIS, LIPS, RIGHT_EYE, RIGHT_IRIS } from './face-parts.ts';

type Numbers = readonly number[];

/** The numbers of two landmarks that a line joins. */
export type Connection = readonly [from: number, to: number];

/** The lines of an eye or of lips whose lower and upper side go from the one corner to the other. */
function ring(numbers: Numbers, lower: number): Connection[] {
  const first = numbers[0] ?? 0;
  return [
    ...path(numbers.slice(0, lower)),
    ...path([first, ...numbers.slice(lower), numbers[lower - 1] ?? 0]),
  ];
}

const path = (numbers: Numbers): Connection[] =>
  numbers.slice(1).map((number, i): Connection => [numbers[i] ?? 0, number]);

const closed = (numbers: Numbers): Connection[] => path([...numbers, numbers[0] ?? 0]);

const OVAL: Numbers = [
  10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148,
  176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
];

/** The lines of a face: its outline, eyes, eyebrows and lips, and irises where the model has them. */
export const FACE_CONNECTIONS: readonly Connection[] = [
  ...closed(OVAL),
  ...ring(LIPS[0] ?? [], 11),
  ...ring(LIPS[1] ?? [], 11),
  ...ring(LEFT_EYE[0] ?? [], 9),
  ...ring(RIGHT_EYE[0] ?? [], 9),
  ...path([46, 53, 52, 65, 55]),
  ...path([70, 63, 105, 66, 107]),
  ...path([276, 283, 282, 295, 285]),
  ...path([300, 293, 334, 296, 336]),
  ...closed(LEFT_IRIS.slice(1)),
  ...closed(RIGHT_IRIS.slice(1)),
];

/** The lines of a hand: fingers and palm. */
export const HAND_CONNECTIONS: readonly Connection[] = [
  ...path([0, 1, 2, 3, 4]),
  ...path([0, 5, 6, 7, 8]),
  ...path([5, 9, 10, 11, 12]),
  ...path([9, 13, 14, 15, 16]),
  ...path([0, 17, 18, 19, 20]),
  [13, 17],
];

/** The lines of a body. */
export const POSE_CONNECTIONS: readonly Connection[] = [
  ...path([8, 6, 5, 4, 0, 1, 2, 3, 7]),
  [9, 10],
  ...path([16, 14, 12, 11, 13, 15]),
  ...closed([16, 18, 20]),
  ...closed([15, 17, 19]),
  [16, 22],
  [15, 21],
  ...closed([11, 12, 24, 23]),
  ...path([24, 26, 28, 30, 32, 28]),
  ...path([23, 25, 27, 29, 31, 27]),
];
