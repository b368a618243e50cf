/** Values of the 16 codes: `kvalues_iq4nl` of ggml. */
const VALUES = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/** The code whose value is nearest. */
export function nearestIq4(x: number): number {
  const distances = VALUES.map((value) => Math.abs(value - x));
  return distances.indexOf(Math.min(...distances));
}
