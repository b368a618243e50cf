export { compileGrammar, Grammar, type GrammarSource } from './compile-grammar.ts';
export type { JsonSchema } from './schema/schema-types.ts';
export { Vocabulary } from './tokens/vocabulary.ts';
