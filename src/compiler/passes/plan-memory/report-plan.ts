import { innerBlocks } from '../../ir/walk/block.ts';
import type { Expr } from '../../ir/expr.ts';
import { type BlockPlans, valuesOf } from './block-plans.ts';
import type { FunctionMemoryPlan } from './memory-report.ts';
import type { PlannedStorage } from './planned-storage.ts';

export function reportPlan(name: string, body: Expr, plans: BlockPlans): FunctionMemoryPlan {
  const { planned, live } = plans.of(body).peaks;
  const storages = storagesOf(body, plans);
  const unsized = storages.filter(({ size }) => size === undefined);
  return {
    name,
    plannedPeakBytes: planned,
    largestLiveSetBytes: live,
    storages: storages.length,
    tensors: tensorCount(storages),
    storageBytes: storages.reduce((sum, { size = 0 }) => sum + size, 0),
    unsizedTensors: tensorCount(unsized),
  };
}

function storagesOf(body: Expr, plans: BlockPlans): PlannedStorage[] {
  const found: PlannedStorage[] = [];
  const work = [body];
  for (let root = work.pop(); root !== undefined; root = work.pop()) {
    const { block, storages } = plans.of(root);
    found.push(...new Set(storages.map((storage) => storage.whole ?? storage)));
    for (const value of valuesOf(block)) {
      if (value.kind === 'if' || value.kind === 'match') work.push(...innerBlocks(value));
    }
  }
  return found;
}

function tensorCount(storages: readonly PlannedStorage[]): number {
  return storages.reduce((sum, { tensors }) => sum + tensors.length, 0);
}
