import { dtypeInfo } from './dtype.ts';
import type { HostTensor } from './host-tensor.ts';
import { formatShape, sameShape } from './shape.ts';
import { isSmallFloat, smallFloatToNumber } from './small-floats.ts';

export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

/**
 * Compares as numpy's allclose does: |actual - expected| <= atol + rtol * |expected|, NaN equal to
 * NaN, infinities equal to themselves; dtype and shape must be the same, integers and booleans
 * exactly equal. Returns undefined when close, else one line that says where and by how much.
 */
export function firstDifference(
  actual: HostTensor,
  expected: HostTensor,
  { rtol, atol }: Tolerance,
): string | undefined {
  if (actual.dtype !== expected.dtype) return `dtype ${actual.dtype}, expected ${expected.dtype}`;
  if (!sameShape(actual.shape, expected.shape)) {
    return `shape ${formatShape(actual.shape)}, expected ${formatShape(expected.shape)}`;
  }
  const a = floats(actual);
  const e = floats(expected);
  const exact = dtypeInfo(expected.dtype).category !== 'float';
  let count = 0;
  let worst = { index: -1, error: -1 };
  for (let i = 0; i < e.length; i++) {
    const x = a[i];
    const y = e[i];
    if (x === undefined || y === undefined || x === y) continue;
    if (typeof x === 'bigint' || typeof y === 'bigint') {
      count++;
      if (worst.index < 0) worst = { index: i, error: 0 };
      continue;
    }
    if (Number.isNaN(x) && Number.isNaN(y)) continue;
    const error = Math.abs(x - y);
    if (!exact && error <= atol + rtol * Math.abs(y)) continue;
    count++;
    if (!(error <= worst.error)) worst = { index: i, error };
  }
  if (count === 0) return undefined;
  const { index } = worst;
  return (
    `${count} of ${e.length} elements differ; the worst is at ${index}: ` +
    `got ${a[index]}, expected ${e[index]} (rtol ${rtol}, atol ${atol})`
  );
}

function floats(tensor: HostTensor): ArrayLike<number | bigint> {
  const data = tensor.data;
  const { dtype } = tensor;
  if (!isSmallFloat(dtype)) return data;
  return Array.from(data as ArrayLike<number | bigint>, (bits) =>
    smallFloatToNumber(dtype, Number(bits)),
  );
}
