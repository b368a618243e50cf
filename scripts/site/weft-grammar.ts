import type { LanguageFn } from 'highlight.js';

/** The text of the IR and of listings, for highlight.js. */
export const weftGrammar: LanguageFn = (hljs) => ({
  name: 'Weft',
  keywords: {
    keyword: 'def let if else match type fn ret call goto rec',
    type: 'Tensor int float bool str float16 float32 float64 int8 int32 int64 uint8 uint32',
    literal: 'true false',
  },
  contains: [
    hljs.COMMENT('//', '$'),
    hljs.QUOTE_STRING_MODE,
    { scope: 'title', begin: /@[A-Za-z_][\w.]*/ },
    { scope: 'variable', begin: /%[\w.]+/ },
    { scope: 'number', begin: /#?-?\b\d+(\.\d+)?(e[+-]?\d+)?[fd]?\b/ },
  ],
});
