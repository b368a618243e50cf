import { UsageError } from '../../../core/errors.ts';
import { type Expression, optional, repeat, sequence } from '../expression.ts';
import type { SchemaContext } from './schema-context.ts';
import type { SchemaObject } from './schema-types.ts';

/** Arrays: first the items of `prefixItems`, then those of `items`, from `minItems` to `maxItems`. */
export function compileArray(schema: SchemaObject, context: SchemaContext): Expression {
  const { document, layout } = context;
  const prefix = document.schemasAt(schema, 'prefixItems') ?? [];
  const items = document.schemaAt(schema, 'items') ?? prefix.length === 0;
  const min = document.countAt(schema, 'minItems') ?? 0;
  const most = items === false ? prefix.length : Number.POSITIVE_INFINITY;
  const max = Math.min(document.countAt(schema, 'maxItems') ?? Number.POSITIVE_INFINITY, most);
  if (min > max) {
    throw new UsageError({
      where: document.pointer(schema, 'minItems'),
      got: `${min}`,
      expected: `at most ${max}, the largest number of items`,
    });
  }
  let rest: Expression | undefined;
  const restMin = Math.max(0, min - prefix.length);
  if (max > prefix.length) {
    const isRepeated = restMin > 1 || max !== Number.POSITIVE_INFINITY;
    const item = isRepeated ? context.sharedValue(items, schema) : context.value(items, schema);
    if (prefix.length === 0) {
      return layout.bracketed('[]', layout.separated(item, min, max));
    }
    rest = repeat(sequence(layout.comma, item), restMin, max - prefix.length);
  }
  // An item may be there only if all before it are.
  for (let i = Math.min(prefix.length, max) - 1; i >= 0; i--) {
    const item = context.value(prefix[i] ?? true, schema);
    const comma = i === 0 ? [] : [layout.comma];
    const these = sequence(...comma, item, ...(rest === undefined ? [] : [rest]));
    rest = i < min ? these : optional(these);
  }
  return layout.bracketed('[]', rest ?? sequence());
}
