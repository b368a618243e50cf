import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { QUESTIONS, wrongAnswers } from './newcomer-questions.ts';
import { findPages, readSource } from './pages.ts';
import { MarkdownRenderer } from './render-markdown.ts';
import { searchIndex } from './search-index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** An index of the pages that are written by hand; those of the reference stand behind them. */
function handWritten() {
  const pages = findPages(root, { withReference: false });
  const renderer = new MarkdownRenderer(pages);
  return searchIndex(
    pages.map((page) => ({
      path: page.path,
      page: renderer.render(page, readSource(root, page)),
    })),
  );
}

test('of what newcomers type, 60 questions and more, the right page comes first', () => {
  expect(Object.keys(QUESTIONS).length).toBeGreaterThanOrEqual(60);
  expect(wrongAnswers(handWritten())).toEqual([]);
});

test('a page that is not first is named', () => {
  const complaints = wrongAnswers(searchIndex([]));
  expect(complaints).toHaveLength(Object.keys(QUESTIONS).length);
  expect(complaints[0]).toBe('search for "webcam": got undefined, expected live-video');
});
