import { Vocabulary } from '../vocabulary.ts';

const encoder = new TextEncoder();

/** Tokens of some texts; the last token, without bytes, ends a text. */
export function vocabularyOf(texts: readonly string[]): Vocabulary {
  const tokens = [...texts.map((text) => encoder.encode(text)), undefined];
  return new Vocabulary(tokens, { endTokens: [texts.length] });
}
