import { isAtom } from '../ir/walk/atoms.ts';
import { Effects } from '../ir/walk/effects.ts';
import type { Expr, FunctionExpr } from '../ir/expr.ts';
import { computeScopes, holds, type Scope } from '../ir/walk/scopes.ts';
import { formatType } from '../ir/type.ts';
import { mapFunctions, rewrite } from '../ir/walk/visit.ts';
import type { Pass } from './pass.ts';

/** Constants up to this many elements are compared by content, larger ones by identity. */
const MAX_COMPARED_ELEMENTS = 64;

/**
 * Makes equal expressions one shared node, so that they are computed once. One gives way to another
 * only where the other is computed anyway: in its own scope or one around it. Equal expressions in
 * two branches stay where they are, and so do calls with effects.
 */
export const eliminateCommonSubexpressions: Pass = {
  name: 'eliminate-common-subexpressions',
  run(module) {
    const effects = new Effects(module);
    return mapFunctions(module, (fn) => shareEqual(fn, effects));
  },
};

interface Candidate {
  readonly expr: Expr;
  readonly scope: Scope;
}

function shareEqual(fn: FunctionExpr, effects: Effects): FunctionExpr {
  const ids = new Map<unknown, number>();
  const idOf = (object: unknown): number => {
    const known = ids.get(object);
    if (known !== undefined) return known;
    ids.set(object, ids.size);
    return ids.size - 1;
  };
  const scopes = computeScopes(fn);
  const candidates = new Map<string, Candidate[]>();
  const body = rewrite(fn.body, (expr, original) => {
    const key = effects.of(original) ? undefined : keyOf(expr, idOf);
    if (key === undefined) return expr;
    const scope = scopes.of(original);
    const equal = candidates.get(key) ?? [];
    const first = equal.find((candidate) => isAtom(expr) || holds(candidate.scope, scope));
    if (first !== undefined) return first.expr;
    candidates.set(key, [...equal, { expr, scope }]);
    return expr;
  });
  return body === fn.body ? fn : { ...fn, body };
}

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
      const { value } = expr;
      const { dtype, shape, isSplat } = value;
      const isSmall = isSplat || value.elementCount <= MAX_COMPARED_ELEMENTS;
      const content = isSmall
        ? value.storedBytes(0, value.storedByteLength).join()
        : `#${idOf(value)}`;
      return `constant ${dtype} ${shape.join()} ${isSplat} ${content}`;
    }
    case 'call': {
      const callee =
        expr.callee.kind === 'operator' ? expr.callee.name : `function ${idOf(expr.callee)}`;
      const attributes = Object.entries(expr.attributes).sort(([a], [b]) => (a < b ? -1 : 1));
      const types = expr.typeArguments?.map(formatType).join() ?? '';
      const device = expr.onDevice ?? '';
      return `${callee}<${types}>(${expr.args.map(idOf).join()}) ${device}${formatAttributes(attributes)}`;
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
