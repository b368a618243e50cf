import type { Trace } from '../trace.ts';
import { isFieldLeaf } from './data-tree.ts';
import { leavesOf } from './tree.ts';
import type { DataSpec, Spec } from './value-spec.ts';

/** Defines the data types of a spec in a module, and those of their fields. */
export function declareTypes(trace: Trace, spec: Spec): void {
  const seen = new Set<DataSpec>();
  const work: unknown[] = [spec];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const { leaf } of leavesOf(next, isFieldLeaf)) {
      if (leaf.kind !== 'data' || seen.has(leaf)) continue;
      seen.add(leaf);
      trace.define(leaf.definition);
      work.push(...Object.values(leaf.constructors));
    }
  }
}
