import type MiniSearch from 'minisearch';
import type { Options, SearchResult } from 'minisearch';

/** A section of a page. */
export interface SearchEntry {
  /** Its address, relative to the site. */
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
  /** Words by which people look for it and which it does not have: `<!-- search: webcam, camera -->` below its heading. */
  readonly keywords: string;
}

/** Words of questions that tell nothing of their subject. */
const STOP_WORDS = new Set(
  'a an and any are as at be by can could do does for from get give go has have how i in into is it make me my need no not of on one or our own please run set should so than that the their there these they this to use using want was we what when where which who why will with without work would you your'.split(
    ' ',
  ),
);

/** Reference pages stand behind guides that say the same word. */
const REFERENCE_BOOST = 0.4;

const isReference = (id: unknown): boolean => String(id).startsWith('docs/api/');

/** The index is made and read with the same options. */
export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'page', 'text', 'keywords'],
  storeFields: ['title', 'page'],
  processTerm: (term) => {
    const word = term.toLowerCase();
    return STOP_WORDS.has(word) ? null : word;
  },
  searchOptions: {
    prefix: (term) => term.length > 1,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { title: 4, page: 2, keywords: 10 },
    boostDocument: (id) => (isReference(id) ? REFERENCE_BOOST : 1),
    combineWith: 'AND',
  },
};

/** Sections with all words of a query, the best first, then those with some of them. */
export function findSections(
  index: MiniSearch<SearchEntry>,
  query: string,
): readonly SearchResult[] {
  const whole = index.search(query);
  const seen = new Set(whole.map(({ id }) => String(id)));
  const some = index.search(query, { combineWith: 'OR' });
  return [...whole, ...some.filter(({ id }) => !seen.has(String(id)))];
}
