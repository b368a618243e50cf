import type { Dim } from '../../core/dim.ts';
import type { WordOperators } from '../../ops/random/threefry-rounds.ts';
import { apply } from '../apply.ts';
import type { ArrayState } from '../array-state.ts';
import { stateOf } from '../operand.ts';

const word = (value: ArrayState | number): ArrayState =>
  typeof value === 'number' ? stateOf(value, 'uint32') : value;

/** Operators on arrays of uint32. */
export const WORDS: WordOperators<ArrayState> = {
  add: (a, b) => apply('add', [a, word(b)]),
  xor: (a, b) => apply('bitwise_xor', [a, word(b)]),
  or: (a, b) => apply('bitwise_or', [a, b]),
  shiftLeft: (a, bits) => apply('shift_left', [a, word(bits)]),
  shiftRight: (a, bits) => apply('shift_right', [a, word(bits)]),
};

/** The number of each element of an array of a shape, counted row by row, uint32. */
export function elementNumbers(shape: readonly Dim[]): ArrayState {
  let numbers = apply('full', [], { shape: [], value: 0, dtype: 'uint32' });
  for (const [axis, size] of shape.entries()) {
    const along = apply('arange', [], { start: [0], size: [size] });
    const column = apply('reshape', [numbers], { shape: [...shape.slice(0, axis), 1] });
    const whole = apply('mul', [column, sizeWord(size)]);
    numbers = apply('add', [whole, apply('cast', [along], { to: 'uint32' })]);
  }
  return numbers;
}

function sizeWord(size: Dim): ArrayState {
  if (typeof size === 'number') return word(size);
  const sizes = apply('dims_tensor', [], { dims: [size] });
  return apply('cast', [sizes], { to: 'uint32' });
}
