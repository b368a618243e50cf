import type { Landmark } from './landmarks.ts';

/** The numbers of a face's points, by the part that a model with attention finds once more. */
type Numbers = readonly number[];

// Along each contour from the one corner to the other: below, then above between the corners.
export const LIPS: readonly Numbers[] = [
  [61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 185, 40, 39, 37, 0, 267, 269, 270, 409],
  [78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 191, 80, 81, 82, 13, 312, 311, 310, 415],
  [76, 77, 90, 180, 85, 16, 315, 404, 320, 307, 306, 184, 74, 73, 72, 11, 302, 303, 304, 408],
  [62, 96, 89, 179, 86, 15, 316, 403, 319, 325, 292, 183, 42, 41, 38, 12, 268, 271, 272, 407],
];
/** The eye that is on the left in the picture, the person's right one, and rings around it up to the eyebrow. */
export const LEFT_EYE: readonly Numbers[] = [
  [33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173],
  [130, 25, 110, 24, 23, 22, 26, 112, 243, 247, 30, 29, 27, 28, 56, 190],
  [226, 31, 228, 229, 230, 231, 232, 233, 244, 113, 225, 224, 223, 222, 221, 189],
  [35, 124, 46, 53, 52, 65],
  [143, 111, 117, 118, 119, 120, 121, 128, 245, 156, 70, 63, 105, 66, 107, 55, 193],
];
export const RIGHT_EYE: readonly Numbers[] = [
  [263, 249, 390, 373, 374, 380, 381, 382, 362, 466, 388, 387, 386, 385, 384, 398],
  [359, 255, 339, 254, 253, 252, 256, 341, 463, 467, 260, 259, 257, 258, 286, 414],
  [446, 261, 448, 449, 450, 451, 452, 453, 464, 342, 445, 444, 443, 442, 441, 413],
  [265, 353, 276, 283, 282, 295],
  [372, 340, 346, 347, 348, 349, 350, 357, 465, 383, 300, 293, 334, 296, 336, 285, 417],
];
/** The middle of an iris, then its right, upper, left and lower edge. */
export const LEFT_IRIS: Numbers = [468, 469, 470, 471, 472];
export const RIGHT_IRIS: Numbers = [473, 474, 475, 476, 477];

/** A part that a model finds by itself: which points of the face are its own, and how many there are. */
interface FacePart {
  readonly numbers: Numbers;
  /** Points of the mesh whose mean depth those have that are not in it. */
  readonly depths?: Numbers | undefined;
}

/** In the order of the outputs behind the mesh. */
export const FACE_PARTS: readonly FacePart[] = [
  { numbers: LIPS.flat() },
  { numbers: LEFT_EYE.flat() },
  { numbers: RIGHT_EYE.flat() },
  { numbers: LEFT_IRIS, depths: LEFT_EYE[0] },
  { numbers: RIGHT_IRIS, depths: RIGHT_EYE[0] },
];

/** A face whose lips, eyes and irises are those of their own outputs: 468 points become 478. Depths stay those of the mesh. */
export function refinedFace(
  mesh: readonly Landmark[],
  parts: readonly (readonly Landmark[])[],
): Landmark[] {
  const refined = [...mesh];
  for (const [i, { numbers, depths }] of FACE_PARTS.entries()) {
    const depth = depths && meanDepth(depths, mesh);
    for (const [k, number] of numbers.entries()) {
      const point = parts[i]?.[k];
      if (point !== undefined) refined[number] = { ...point, z: depth ?? mesh[number]?.z ?? 0 };
    }
  }
  return refined;
}

const meanDepth = (numbers: Numbers, mesh: readonly Landmark[]): number =>
  numbers.reduce((sum, number) => sum + (mesh[number]?.z ?? 0), 0) / numbers.length;
