import { func, moduleOf, variableOf } from '../../compiler/ir/build.ts';
import type { VarExpr } from '../../compiler/ir/expr.ts';
import { formatType, tensorType } from '../../compiler/ir/type.ts';
import { type ArrayData, dataOf, noteReader } from '../array-state.ts';
import { sharedRunner } from '../runners/shared-runners.ts';
import { tensorAt } from './device-array.ts';
import { releaseWithLeaf } from './release.ts';

/** Fewer bytes travel with each run; a tensor on the device costs more than they do. */
const LEAST_BYTES = 4096;

/**
 * The elements of a leaf, for a run where arrays are computed by default. Those of the page stay on the device from their
 * second run on.
 */
export function argumentOf(leaf: VarExpr): ArrayData {
  const data = dataOf(leaf);
  const { host, device } = data;
  if (host === undefined || device !== undefined || host.data.byteLength < LEAST_BYTES) return data;
  data.runs++;
  if (data.runs === 2) upload(leaf, data);
  return data;
}

/** Runs a program that gives what it gets. */
function upload(leaf: VarExpr, data: ArrayData): void {
  if (leaf.type?.kind !== 'tensor') return;
  const { dtype, shape } = leaf.type;
  const type = tensorType({ dtype, shape: shape.map((_, axis) => `n${axis}`) });
  const runner = sharedRunner(`upload ${formatType(type)}`, () => {
    const x = variableOf('x', type);
    return moduleOf({ main: func([x], x) });
  });
  const host: ArrayData = { ...data, readers: new Set() };
  data.device = tensorAt(runner.run([host]), 0);
  noteReader(data, data.device);
  releaseWithLeaf(leaf, data);
}
