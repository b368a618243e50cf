import { postOrder } from '../compiler/ir/walk/visit.ts';
import { type Module, spanOf } from '../compiler/ir/expr.ts';
import { formatPlace } from '../core/contracts/source-place.ts';
import { VALUE_NAMES, valueNamesToJson } from '../core/contracts/value-names.ts';

/** A program in text form with the names of its `let`s as metadata, so that values of its runs can be told by them. */
export function nameLets(module: Module): Module {
  const names = new Map<string, readonly string[]>();
  for (const { body } of module.functions.values()) {
    for (const expr of postOrder(body)) {
      if (expr.kind !== 'let') continue;
      const span = spanOf(expr.value);
      if (span !== undefined) names.set(formatPlace(span), [expr.variable.name]);
    }
  }
  const text = valueNamesToJson(names);
  return text === undefined
    ? module
    : { ...module, metadata: { ...module.metadata, [VALUE_NAMES]: text } };
}
