import type { Expr } from '../ir/expr.ts';
import { rewriteBodies } from '../ir/visit.ts';
import type { Pass } from './pass.ts';

/** Constants up to this many elements are compared by content, larger ones by identity. */
const MAX_COMPARED_ELEMENTS = 64;

/** Makes equal expressions one shared node, so that they are computed once. */
export const eliminateCommonSubexpressions: Pass = {
  name: 'eliminate-common-subexpressions',
  run(module) {
    const ids = new Map<unknown, number>();
    const idOf = (object: unknown): number => {
      const known = ids.get(object);
      if (known !== undefined) return known;
      ids.set(object, ids.size);
      return ids.size - 1;
    };
    const byKey = new Map<string, Expr>();
    return rewriteBodies(module, (expr) => {
      const key = keyOf(expr, idOf);
      if (key === undefined) return expr;
      const first = byKey.get(key);
      if (first === undefined) byKey.set(key, expr);
      return first ?? expr;
    });
  },
};

/** Equal for expressions that compute the same; undefined for what is only equal to itself. */
function keyOf(expr: Expr, idOf: (object: unknown) => number): string | undefined {
  switch (expr.kind) {
    case 'var':
    case 'operator':
    case 'function':
    case 'let':
    case 'if':
    case 'match':
      return undefined;
    case 'int':
      return `int ${expr.value}`;
    case 'constructor':
      return `constructor ${expr.name}`;
    case 'global':
      return `global ${expr.name}`;
    case 'constant': {
      const { dtype, shape, isSplat, elements } = expr.value;
      const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
      const content =
        elements.length <= MAX_COMPARED_ELEMENTS ? bytes.join() : `#${idOf(expr.value)}`;
      return `constant ${dtype} ${shape.join()} ${isSplat} ${content}`;
    }
    case 'call': {
      const callee =
        expr.callee.kind === 'operator' ? expr.callee.name : `function ${idOf(expr.callee)}`;
      const attributes = Object.entries(expr.attributes).sort(([a], [b]) => (a < b ? -1 : 1));
      return `${callee}(${expr.args.map(idOf).join()}) ${formatAttributes(attributes)}`;
    }
    case 'tuple':
      return `(${expr.fields.map(idOf).join()})`;
    case 'projection':
      return `${idOf(expr.tuple)}.${expr.index}`;
    default:
      return expr satisfies never;
  }
}

/** JSON, but for numbers that it does not tell apart: -0, infinities and NaN. */
function formatAttributes(attributes: readonly (readonly [string, unknown])[]): string {
  return JSON.stringify(attributes, (_, value: unknown) => {
    if (typeof value !== 'number') return value;
    return Object.is(value, -0) ? '-0' : String(value);
  });
}
