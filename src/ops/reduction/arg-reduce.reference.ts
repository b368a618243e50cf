import { internalError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import type { ArgReduceName, Extreme } from './arg-reduce.ts';

function argReduceReference(name: ArgReduceName, extreme: Extreme): StaticReference {
  return {
    reference(inputs, attributes, output) {
      const x = operand(inputs, 0);
      const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, name);
      findExtremes(x, output, {
        axis,
        extreme,
        isLast: boolAttribute(attributes, 'select_last'),
      });
    },
  };
}

interface ExtremeSearch {
  readonly axis: number;
  readonly extreme: Extreme;
  readonly isLast: boolean;
}

function findExtremes(
  x: HostTensor,
  output: HostTensor,
  { axis, extreme, isLast }: ExtremeSearch,
): void {
  const elements: ArrayLike<number | bigint> = x.data;
  const places = output.elements;
  if (!(places instanceof BigInt64Array)) throw internalError('places that are no int64');
  const size = x.shape[axis] ?? 1;
  const inner = elementCount(x.shape.slice(axis + 1));
  const isBetter = (a: number | bigint, b: number | bigint) =>
    (extreme === 'max' ? a > b : a < b) || (Number.isNaN(Number(a)) && !Number.isNaN(Number(b)));
  for (let row = 0; row < places.length; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    let place = 0;
    for (let k = 1; k < size; k++) {
      const best = elements[start + place * inner] ?? 0;
      const next = elements[start + k * inner] ?? 0;
      if (isBetter(next, best) || (isLast && !isBetter(best, next))) place = k;
    }
    places[row] = BigInt(place);
  }
}

export const ARG_REDUCE_REFERENCES = {
  arg_max: argReduceReference('arg_max', 'max'),
  arg_min: argReduceReference('arg_min', 'min'),
} satisfies Record<ArgReduceName, StaticReference>;
