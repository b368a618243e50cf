import { expect, test } from 'vitest';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import { casePrimitive } from '../../ops/testing/case-tensors.ts';
import { casesOfAllDTypes } from '../../conformance/dtype-variants.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { loadDoubles } from '../../ops/formula/wasm/find-intrinsic.ts';
import { loadLowerings } from '../../ops/tables/wasm.ts';
import { findReferences } from '../../worker/tools/reference-steps.ts';

/** Operators some of whose cases run references on wasm, with the dtypes of their first inputs. */
function referencedCases(): Record<string, string> {
  const found = new Map<string, Set<string>>();
  for (const op of [...KERNEL_OPS.values()].map(withCases)) {
    for (const opCase of casesOfAllDTypes(op)) {
      const references = findReferences(casePrimitive(op, opCase, 'case'), CORE_OPERATORS) ?? [];
      if (references.length === 0) continue;
      const dtypes = found.get(op.name) ?? new Set();
      found.set(op.name, dtypes);
      dtypes.add(opCase.inputs[0]?.dtype ?? 'none');
    }
  }
  return Object.fromEntries(Array.from(found, ([name, dtypes]) => [name, [...dtypes].join(', ')]));
}

test('the operators that have no WebAssembly are these', async () => {
  await loadLowerings(KERNEL_OPS.keys());
  await loadDoubles();
  expect(referencedCases()).toMatchInlineSnapshot(`
    {
      "cached_attention": "float16",
      "cast": "float32",
      "check_indices": "int64, int32",
      "deform_conv": "float32, float16",
      "det": "float32, float16",
      "dft": "float32, float16",
      "grid_sample": "float32, float16",
      "linear_attention": "float32, float16",
      "max_pool": "int8, uint8",
      "max_pool_indices": "float32, int8, uint8, float16",
      "max_roi_pool": "float32, float16",
      "roi_align": "float32, float16",
      "wgsl_kernel": "float32, float16, int32, uint32, bool",
    }
  `);
});
