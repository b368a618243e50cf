import type { ExecutableData } from '../../bytecode/executable.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import type { ReferenceStep } from '../../device/device.ts';
import { findReferences } from '../../device/wasm/find-references.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { loadDoubles } from '../../ops/formula/find-intrinsic.ts';
import { loadLowerings } from '../../ops/tables/wasm.ts';

/**
 * The steps of a program that have no WebAssembly, and run references on the device `wasm`, as far as sizes are
 * known. Primitives with operators that are not ours are left out.
 */
export async function referenceSteps({
  primitives,
}: Pick<ExecutableData, 'primitives'>): Promise<ReferenceStep[]> {
  const known = primitives.filter(({ body }) =>
    body.every(({ op }) => CORE_OPERATORS.get(op) !== undefined),
  );
  await Promise.all([
    loadLowerings(known.flatMap(({ body }) => body.map(({ op }) => op))),
    loadDoubles(),
  ]);
  return known.flatMap((primitive) => {
    const labels = returnsTensor(primitive)
      ? primitive.body.map(({ op }) => op)
      : (findReferences(primitive, CORE_OPERATORS) ?? []);
    return labels.map((label) => ({ primitive: primitive.name, label }));
  });
}
