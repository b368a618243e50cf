import { internalError } from '../core/errors.ts';
import type { OpDefinition } from './define-op.ts';
import type { OpCases } from './op-cases.ts';
import type { OpReference } from './op-reference.ts';

/** References that stand in the definitions themselves. */
export function inlineReferences(ops: readonly OpDefinition[]): Record<string, OpReference> {
  return Object.fromEntries(
    ops.map(({ name, reference, compute, takesBits = false }) => {
      if (compute !== undefined) return [name, { compute }];
      if (reference === undefined) throw internalError(`${name} has no reference`);
      return [name, { reference, takesBits }];
    }),
  );
}

/** Cases that stand in the definitions themselves. */
export function inlineCases(ops: readonly OpDefinition[]): Record<string, OpCases> {
  return Object.fromEntries(
    ops.map(({ name, summary, cases, badCases }) => {
      if (summary === undefined || cases === undefined || badCases === undefined) {
        throw internalError(`${name} has no cases`);
      }
      return [name, { summary, cases, badCases }];
    }),
  );
}
