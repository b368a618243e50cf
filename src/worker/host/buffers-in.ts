import { foldParts } from '../../core/contracts/value-fold.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { WIRE_SIDE, type WireResult, type WireValue } from '../protocol/wire-value.ts';

/** Smaller memory is as soon made anew, or copied, as handed over. */
export const isLarge = ({ byteLength }: ArrayBuffer): boolean => byteLength >= 64 * 1024;

/** The memory of a run's inputs, which are on the device, and what results did not need. */
export function sparesOf(
  { args, room = [] }: RunRequest,
  results: readonly WireResult[],
): ArrayBuffer[] {
  const used = new Set(buffersIn(results.map(({ value }) => value)));
  return [...buffersIn(args), ...room].filter((buffer) => isLarge(buffer) && !used.has(buffer));
}

/** The memory of tensors, each buffer once. */
export function buffersIn(values: readonly WireValue[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const visit = foldParts(WIRE_SIDE.partsOf, (value) => {
    if (value.kind !== 'tensor') return;
    const { buffer } = value.data;
    if (buffer instanceof ArrayBuffer) buffers.add(buffer);
  });
  for (const value of values) visit(value);
  return [...buffers];
}
