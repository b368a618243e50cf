/** Steps of a round of the loops of `register-loops.ts`, and rounds of a run. */
export const STEPS = 96;
export const ROUNDS = 4000;

const FLOATS = 4;
const BYTES = 16;

/** Operations of one run of a loop in registers; a multiply-add is two. */
export const REGISTER_OPERATIONS = {
  'multiply-adds': 2 * FLOATS * STEPS * ROUNDS,
  'byte-products': 2 * BYTES * STEPS * ROUNDS,
} as const;
