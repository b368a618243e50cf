import { parseRules, type ParseRulesOptions } from '../rewriting/parse-rules.ts';
import { rewriteModule } from '../rewriting/rewrite-module.ts';
import { either, requireKind } from '../../core/check-options.ts';
import type { Pass } from './pass.ts';

/**
 * A pass that applies rewrite rules in text form, in the order of the text:
 * `rewriteRules('mine', 'exp(log(%x)) => %x; mul(%x, 2) => add(%x, %x);')`. A rule applies where its pattern and
 * conditions fit and where the replacement has the type of what it replaces. Throws ParseError.
 */
export function rewriteRules(
  name: string,
  text: string | readonly string[],
  options: ParseRulesOptions = {},
): Pass {
  requireKind('rewriteRules', either('text', 'names'), ['rules that are', text]);
  const rules =
    typeof text === 'string'
      ? parseRules(text, { file: name, ...options })
      : text.flatMap((each, i) => parseRules(each, { file: `${name}[${i}]`, ...options }));
  return { name, rules, run: (module, context) => rewriteModule(module, rules, context) };
}
