import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

const KEYWORDS = new Set([
  'def',
  'private',
  'type',
  'let',
  'if',
  'else',
  'match',
  'fn',
  'metadata',
]);

/** Colours for the text of the language. */
export const weftLanguage = StreamLanguage.define<null>({
  name: 'weft',
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"/)) return 'string';
    if (stream.match(/^[%@](?:"[^"]*"|[\w.]+)/)) return 'variableName';
    if (stream.match(/^#?-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\w*/)) return 'number';
    const word = stream.match(/^[A-Za-z_][\w.]*/);
    if (Array.isArray(word)) {
      const [name = ''] = word as readonly string[];
      if (KEYWORDS.has(name)) return 'keyword';
      return /^[A-Z]/.test(name) ? 'typeName' : null;
    }
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: '//' } },
});

export const weftColours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--keyword)' },
    { tag: tags.typeName, color: 'var(--keyword)' },
    { tag: tags.string, color: 'var(--string)' },
    { tag: tags.number, color: 'var(--number)' },
    { tag: tags.variableName, color: 'var(--accent)' },
    { tag: tags.comment, color: 'var(--muted)' },
  ]),
);
