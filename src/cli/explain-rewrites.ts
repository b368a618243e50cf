import type { AppliedRule } from '../compiler/index.ts';
import { formatSpan } from '../compiler/ir/expr.ts';

/** So many places of a rule are listed. */
const MAX_PLACES = 8;

/** Which rewrite rules applied, how often and where, as comments of a program. */
export function explainRewrites(applied: readonly AppliedRule[]): string {
  if (applied.length === 0) return '// No rewrite rule applies.\n';
  const byRule = new Map<string, AppliedRule[]>();
  for (const each of applied) {
    const others = byRule.get(each.rule);
    if (others === undefined) byRule.set(each.rule, [each]);
    else others.push(each);
  }
  return [...byRule]
    .map(([rule, all]) => {
      const places = all.map((each) => formatSpan(each.span, `@${each.function}`));
      const listed = places.slice(0, MAX_PLACES).join(', ');
      const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
      const times = all.length === 1 ? 'once' : `${all.length} times`;
      const reason = all[0]?.explains === undefined ? '' : `//   ${all[0].explains}\n`;
      return `// ${rule}: ${times}, at ${listed}${more}\n${reason}`;
    })
    .join('');
}
