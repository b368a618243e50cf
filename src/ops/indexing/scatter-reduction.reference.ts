import { isBigInt } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementBits, numberElements, startFrom } from '../elements.ts';
import { elementFunction } from '../formula/evaluate.ts';
import { combination, contextOf } from './scatter-reduction.ts';

/** A scatter of whole rows, as both operators come down to it. */
export interface HostScatter {
  readonly x: HostTensor;
  readonly updates: HostTensor;
  readonly reduction: string;
  /** Elements of one row. */
  readonly run: number;
  /** The row of x for each row of the updates; negative for none. */
  readonly rows: ArrayLike<number>;
}

export function scatterOnHost(scatter: HostScatter, output: HostTensor): void {
  const { x, updates, reduction, run, rows } = scatter;
  startFrom(x, output);
  const formula = combination(reduction);
  if (formula === undefined) {
    copyRows(elementBits(updates), elementBits(output), { rows, run });
    return;
  }
  const combine = elementFunction(formula, contextOf(output.dtype));
  const isWide = isBigInt(output.dtype);
  const from: ArrayLike<number | bigint> = isWide ? updates.data : numberElements(updates);
  const to = isWide ? output.data : numberElements(output);
  for (let i = 0; i < rows.length * run; i++) {
    const row = rows[Math.floor(i / run)] ?? -1;
    if (row < 0) continue;
    const at = row * run + (i % run);
    const value = combine([to[at] ?? 0, from[i] ?? 0]);
    if (to instanceof BigInt64Array || to instanceof BigUint64Array) to[at] = BigInt(value);
    else to[at] = Number(value);
  }
}

function copyRows(
  from: Uint32Array,
  to: Uint32Array,
  { rows, run }: { readonly rows: ArrayLike<number>; readonly run: number },
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? -1;
    if (row >= 0) to.set(from.subarray(i * run, (i + 1) * run), row * run);
  }
}
