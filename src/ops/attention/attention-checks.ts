import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import type { LoweringCall } from '../lowering/lowering.ts';

export function requireSharedHeads<D extends Dim>(
  dims: DimContext<D>,
  [heads, kvHeads]: readonly [heads: D, kvHeads: D],
  where: string,
): void {
  if (dims.known(kvHeads) === 0) return;
  dims.requireEqual(dims.mod(heads, kvHeads), dims.of(0), () => ({
    where,
    got: `${formatDim(heads)} heads of queries`,
    expected: `a multiple of ${formatDim(kvHeads)}, the heads of keys`,
  }));
}

export function requireOneSize(
  attributes: Attributes,
  names: readonly string[],
  operator: string,
): void {
  for (const name of names) {
    const { length } = dimsAttribute(attributes, name);
    if (length <= 1) continue;
    const where = `${operator}: attribute ${name}`;
    throw new ShapeError({ where, got: `${length} numbers`, expected: 'one or none' });
  }
}

/** A tile of rows shares what it loads of keys and values, one of keys the queries. */
export function attentionLoads(input: number, { inputs }: Omit<LoweringCall, 'caps'>): number {
  const [batch = 1, heads = 1, queries = 1] = inputs[0]?.shape ?? [];
  const keys = inputs[1]?.shape[2] ?? 1;
  if (input === 0) return Math.max(keys / 16, 1);
  if (input < 3) return Math.max((queries * heads) / (inputs[1]?.shape[1] ?? 1) / 16, 1);
  const size = elementCount(inputs[3]?.shape ?? []);
  return Math.max((batch * heads * queries * keys) / Math.max(size, 1), 1);
}
