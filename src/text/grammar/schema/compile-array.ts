import { UsageError } from '../../../core/errors.ts';
import { EMPTY, type Expression, type GraphEdge, repeat, sequence } from '../expression.ts';
import { requireSize } from '../measure-expression.ts';
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
  let rest: Expression = EMPTY;
  const restMin = Math.max(0, min - prefix.length);
  const isRepeated = restMin > 1 || max !== Number.POSITIVE_INFINITY;
  const keyword = restMin > 0 && max === Number.POSITIVE_INFINITY ? 'minItems' : 'maxItems';
  const sized = (items: Expression) =>
    isRepeated ? requireSize(items, document.pointer(schema, keyword)) : items;
  if (max > prefix.length) {
    const item = isRepeated ? context.sharedValue(items, schema) : context.value(items, schema);
    if (prefix.length === 0) {
      return layout.bracketed('[]', sized(layout.separated(item, min, max)));
    }
    rest = sized(repeat(sequence(layout.comma, item), restMin, max - prefix.length));
  }
  // An item may be there only if all before it are: the place of a graph is their number.
  const count = Math.min(prefix.length, max);
  const end = count + 1;
  const edges: GraphEdge[] = [];
  for (const [i, schemaOfItem] of prefix.slice(0, count).entries()) {
    if (i >= min) edges.push({ from: i, to: end, body: EMPTY });
    const item = context.value(schemaOfItem, schema);
    edges.push({ from: i, to: i + 1, body: i === 0 ? item : sequence(layout.comma, item) });
  }
  edges.push({ from: count, to: end, body: rest });
  return layout.bracketed('[]', { kind: 'graph', edges, end });
}
