import type { Executable } from '../../bytecode/index.ts';
import { RepresentativeSizes } from '../../core/dims/representative-sizes.ts';
import { formatPlace } from '../../core/contracts/source-place.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { callCounts, primitiveWork } from './program-work.ts';

/** The cost of a kernel in one run of `main`: each call counts once, whatever branches and loops do. */
export interface KernelCost {
  readonly kernel: string;
  readonly calls: number;
  /** Additions and multiplications of all its calls, about; undefined where nobody can tell. */
  readonly operations: number | undefined;
  /** Bytes that they read and write. */
  readonly bytes: number | undefined;
  /** Nodes of the model or lines of the source. */
  readonly sources: readonly string[];
  /** True if it runs on the host whatever the device of the session is. */
  readonly isOnHost: boolean;
}

/**
 * The cost of each kernel of a program, in the program's order. Batches are 1, other symbols 128.
 */
export function kernelCosts(executable: Executable): readonly KernelCost[] {
  const { functions, primitives } = executable;
  const main = functions.find(({ name }) => name === 'main') ?? functions[0];
  if (main === undefined) return [];
  const counts = callCounts(executable, main);
  const params = main.signature?.params ?? [];
  const sizes = new RepresentativeSizes(params.filter((type) => type.kind === 'tensor'));
  return primitives.map((primitive): KernelCost => {
    const calls = counts.get(primitive.name) ?? 0;
    const work = primitiveWork(primitive, CORE_OPERATORS, sizes);
    const places = executable.sourceMap?.ofPrimitive(primitive.name) ?? [];
    return {
      kernel: primitive.name,
      calls,
      operations: work && work.operations * calls,
      bytes: work && work.bytes * calls,
      sources: places.map(formatPlace),
      isOnHost: primitive.device === 'host',
    };
  });
}
