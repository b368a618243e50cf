import type { Options } from 'minisearch';

/** A section of a page. */
export interface SearchEntry {
  /** Its address, relative to the site. */
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

/** The index is made and read with the same options. */
export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page'],
  searchOptions: {
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { title: 4, page: 2 },
    combineWith: 'AND',
  },
};
