import { UnsupportedError } from '../../core/errors.ts';
import type { AdjointCall } from './adjoint.ts';

/** Throws UnsupportedError if the cotangent of a table is wanted that sizes alone should decide. */
export function requireConstantTable(
  { wants }: Pick<AdjointCall, 'wants'>,
  input: number,
  where: string,
): void {
  if (!wants(input)) return;
  throw new UnsupportedError({
    where,
    got: 'a table that gets derivatives',
    expected: 'one that follows from sizes',
    remedy: 'Put stop_gradient around it.',
  });
}
