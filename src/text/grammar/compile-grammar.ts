import { UsageError } from '../../core/errors.ts';
import { withMeter } from '../../core/limits/work-meter.ts';
import { type Automaton, buildAutomaton } from './automaton/automaton.ts';
import { parseEbnf } from './languages/ebnf.ts';
import type { Rules } from './expression.ts';
import { GrammarMeter } from './grammar-meter.ts';
import { Matcher } from './matcher.ts';
import { parseRegex, regexParts, wholeMatch } from './languages/regex.ts';
import { compileSchema } from './schema/compile-schema.ts';
import type { JsonSpace } from './schema/json-layout.ts';
import type { JsonSchema } from './schema/schema-types.ts';
import { TokenMasks } from './tokens/token-masks.ts';
import type { Vocabulary } from './tokens/vocabulary.ts';

/** A set of texts, in one of three languages. */
export type GrammarSource =
  | {
      /** A JSON schema, or `true` for any JSON. */
      readonly schema: JsonSchema;
      /** White space between the parts of JSON; default 'none'. */
      readonly space?: JsonSpace | undefined;
    }
  | {
      /** A grammar in the notation of llama.cpp. */
      readonly ebnf: string;
      /** The rule of whole texts; default 'root'. */
      readonly root?: string | undefined;
    }
  | {
      /** A regular expression in the syntax of JavaScript, which the whole text has to match. */
      readonly regex: string | RegExp;
    };

/** A compiled grammar, for any number of texts. */
export class Grammar {
  readonly vocabulary: Vocabulary;
  readonly #automaton: Automaton;
  readonly #masks: TokenMasks;

  constructor(rules: Rules, vocabulary: Vocabulary, meter?: GrammarMeter) {
    this.vocabulary = vocabulary;
    this.#automaton = buildAutomaton(rules, meter);
    this.#masks = new TokenMasks(this.#automaton, vocabulary);
    this.#masks.prepare();
  }

  /** A matcher before the first token of a text. */
  start(): Matcher {
    return Matcher.start({
      automaton: this.#automaton,
      vocabulary: this.vocabulary,
      masks: this.#masks,
    });
  }
}

/**
 * Compiles a grammar for the tokens of a model.
 *
 * Throws ParseError with line and column, or a JSON pointer, for what is written wrongly;
 * UnsupportedError for what cannot be followed; UsageError for a grammar that no text can satisfy;
 * and CompileLimitError for one that is too large.
 */
export function compileGrammar(source: GrammarSource, vocabulary: Vocabulary): Grammar {
  const meter = new GrammarMeter();
  return withMeter(meter, () => new Grammar(rulesOf(source, meter), vocabulary, meter));
}

export function rulesOf(source: GrammarSource, meter = new GrammarMeter()): Rules {
  if ('schema' in source) return compileSchema(source.schema, source.space ?? 'none', meter);
  if ('ebnf' in source) return parseEbnf(source.ebnf, source.root);
  if ('regex' in source) {
    const { source: text, dotAll } = regexParts(source.regex);
    const regex = wholeMatch(parseRegex(text, { where: 'regex', dotAll }));
    return { root: 'root', rules: new Map([['root', regex]]) };
  }
  throw new UsageError({
    where: 'compileGrammar',
    got: Object.keys(source).join(', ') || 'nothing',
    expected: 'schema, ebnf or regex',
  });
}
