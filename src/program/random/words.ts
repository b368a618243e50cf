import type { Dim } from '../../core/dim.ts';
import { apply } from '../apply.ts';
import type { ArrayState } from '../array-state.ts';
import { stateOf } from '../operand.ts';

const word = (value: number): ArrayState => stateOf(value, 'uint32');

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
