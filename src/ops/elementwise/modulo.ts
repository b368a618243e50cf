import { boolAttribute } from '../attributes.ts';
import * as f from '../formula/build.ts';
import { defineBinary } from './elementwise-binary.ts';
import { NUMERIC, UNSIGNED_INTEGERS } from './number-dtypes.ts';

const floored = f.bound('rest', f.rem(f.A, f.B), (rest) => {
  const differs = f.notEqual(f.less(rest, 0), f.less(f.B, 0));
  return f.select(f.and(f.notEqual(rest, 0), differs), f.add(rest, f.B), rest);
});

/** Rounds the quotient down, or towards zero when `fmod`. */
export const modulo = defineBinary({
  name: 'mod',
  dtypes: NUMERIC,
  attributes: { fmod: { type: 'bool', default: false } },
  tolerance: { rtol: 1e-6, atol: 1e-6 },
  formula: ({ attributes, output }) =>
    boolAttribute(attributes, 'fmod') || UNSIGNED_INTEGERS.includes(output)
      ? f.rem(f.A, f.B)
      : floored,
});
