import { describe } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { requireModule } from './require-module.ts';
import { type Family, FIELD_TABLE } from './json/field-table.ts';

/** Families of which functions are made. Types are looked at where they are inferred. */
const FAMILIES: ReadonlySet<Family> = new Set<Family>(['expr', 'pattern', 'clause']);

/** {@link requireModule}, and for a node of the module that is none of the IR's. */
export function requireNodes(where: string, module: unknown, remedy?: string): void {
  requireModule(where, module, remedy);
  const seen = new Set<unknown>();
  const stack: (readonly [Family, unknown])[] = [];
  const visit = (family: Family, node: unknown): void => {
    if (!seen.has(node)) stack.push([family, node]);
    seen.add(node);
  };
  for (const fn of module.functions.values()) visit('expr', fn);
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [family, node] = top;
    const { kind } = Object(node) as { readonly kind?: unknown };
    const fields = FIELD_TABLE.get(family === 'clause' ? family : `${family}.${String(kind)}`);
    const parts = fields?.filter((field) => field.family && FAMILIES.has(field.family));
    const isWhole = parts?.every(({ name, isList }) => {
      const value: unknown = Reflect.get(Object(node), name);
      return isList ? Array.isArray(value) : typeof value === 'object' && value !== null;
    });
    if (parts === undefined || isWhole !== true) {
      const got = `${describe(node)} as a part of a function`;
      const expected = 'a node of the IR, as call, func and others make it';
      throw new UsageError({ where, got, expected });
    }
    for (const { name, family: own = 'expr' } of parts) {
      for (const part of [Reflect.get(Object(node), name)].flat() as unknown[]) visit(own, part);
    }
  }
}
