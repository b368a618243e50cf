import { type CallShapes, shapesOf } from '../core/contracts/call-shapes.ts';
import { UnsupportedError } from '../core/errors.ts';
import type { KernelSource } from '../core/contracts/kernel-source.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { representativeShapes } from './representative-shapes.ts';

/** Stands for sizes that no call has told yet. */
const SAMPLE = 32;

/** Shapes to show the code of a kernel for: those of all calls, of the latest one, or such as a call may have. */
export function sourceShapes(
  primitive: PrimitiveFunction,
  latest: CallShapes | undefined,
): CallShapes & Pick<KernelSource, 'sizes'> {
  const fixed = shapesOf(primitive);
  if (fixed !== undefined) return { ...fixed, sizes: 'fixed' };
  if (latest !== undefined) return { ...latest, sizes: 'latest' };
  const [sample] = representativeShapes(primitive, { values: [SAMPLE], hasResults: true });
  if (sample !== undefined) return { ...sample, sizes: 'sample' };
  throw new UnsupportedError({
    where: `code of the kernel ${primitive.name}`,
    got: 'sizes that only a call tells',
    expected: 'a call before',
    remedy: 'Run the program, then ask again.',
  });
}
