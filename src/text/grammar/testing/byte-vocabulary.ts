import { Vocabulary } from '../vocabulary.ts';
import { vocabularyData } from '../vocabulary-data.ts';

const encoder = new TextEncoder();

/** Tokens of some texts; the last token, without bytes, ends a text. */
export function vocabularyOf(texts: readonly string[]): Vocabulary {
  const tokens = [...texts.map((text) => encoder.encode(text)), undefined];
  return new Vocabulary(vocabularyData(tokens, { endTokens: [texts.length] }));
}
