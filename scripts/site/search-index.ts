import MiniSearch from 'minisearch';
import type { RenderedPage, Section } from './render-markdown.ts';
import { SEARCH_OPTIONS, type SearchEntry } from './search-options.ts';

/** The longest text of a section that is searched; what follows is found by its headings. */
const MOST_CHARACTERS = 1500;

/** The index that a page's search loads; it goes there as JSON. */
export function searchIndex(
  pages: readonly { readonly path: string; readonly page: RenderedPage }[],
): MiniSearch<SearchEntry> {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  for (const { path, page } of pages) {
    // The reference is found by its names; its tables would be most of the index.
    const isReference = path.startsWith('docs/api/');
    const entryOf = ({ title, anchor, text, keywords }: Section): SearchEntry => ({
      id: anchor === '' ? path : `${path}#${anchor}`,
      title,
      page: page.title,
      text: isReference ? '' : text.slice(0, MOST_CHARACTERS),
      keywords,
    });
    const sections = page.sections.filter(({ level }) => !isReference || level !== 2);
    index.addAll(sections.filter(({ level }) => !isReference || level <= 3).map(entryOf));
  }
  return index;
}
