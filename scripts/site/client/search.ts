import MiniSearch from 'minisearch';
import { findSections, SEARCH_OPTIONS, type SearchEntry } from '../search-options.ts';

const MOST_RESULTS = 12;

/** The field at the top: `/` goes there, arrows choose, Enter opens, Escape closes. */
export function setUpSearch(): void {
  const form = document.querySelector('form.search');
  const field = document.querySelector('#query');
  const list = document.querySelector('#found');
  const status = document.querySelector('form.search [role=status]');
  if (!(form instanceof HTMLFormElement) || !(field instanceof HTMLInputElement)) return;
  if (!(list instanceof HTMLElement) || status === null) return;
  form.hidden = false;
  new SearchField(field, list, status).listen(form);
}

class SearchField {
  readonly #field: HTMLInputElement;
  readonly #list: HTMLElement;
  readonly #status: Element;
  #index: Promise<MiniSearch<SearchEntry>> | undefined;
  #chosen = -1;

  constructor(field: HTMLInputElement, list: HTMLElement, status: Element) {
    this.#field = field;
    this.#list = list;
    this.#status = status;
  }

  listen(form: HTMLFormElement): void {
    this.#field.addEventListener('focus', () => void this.#load());
    this.#field.addEventListener('input', () => void this.#search());
    this.#field.addEventListener('keydown', (event) => this.#press(event));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#links()[Math.max(0, this.#chosen)]?.click();
    });
    form.addEventListener('focusout', (event) => {
      if (!(event.relatedTarget instanceof Node && form.contains(event.relatedTarget)))
        this.#close();
    });
    document.addEventListener('keydown', (event) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.matches('input, textarea');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#field.focus();
    });
  }

  #load(): Promise<MiniSearch<SearchEntry>> {
    this.#index ??= fetch(document.body.dataset['searchIndex'] ?? '').then(async (response) => {
      if (!response.ok) throw new Error(`HTTP status ${response.status}`);
      return MiniSearch.loadJSON<SearchEntry>(await response.text(), SEARCH_OPTIONS);
    });
    return this.#index;
  }

  async #search(): Promise<void> {
    const query = this.#field.value.trim();
    if (query === '') return this.#close();
    let found;
    try {
      found = findSections(await this.#load(), query).slice(0, MOST_RESULTS);
    } catch (error) {
      this.#index = undefined;
      this.#status.textContent = `The index did not load: ${String(error)}`;
      return;
    }
    if (query !== this.#field.value.trim()) return;
    const root = document.body.dataset['root'] ?? '.';
    this.#list.replaceChildren(
      ...found.map((entry, at) => {
        const item = document.createElement('li');
        item.id = `found-${at}`;
        item.role = 'option';
        const link = document.createElement('a');
        link.href = `${root}/${String(entry.id)}`;
        link.tabIndex = -1;
        const page = document.createElement('span');
        page.textContent = String(entry['page']);
        link.append(String(entry['title']), page);
        item.append(link);
        return item;
      }),
    );
    this.#list.hidden = found.length === 0;
    this.#field.ariaExpanded = String(found.length > 0);
    this.#status.textContent = found.length === 0 ? 'Nothing was found.' : `${found.length} found`;
    this.#choose(found.length > 0 ? 0 : -1);
  }

  #press(event: KeyboardEvent): void {
    const count = this.#links().length;
    if (event.key === 'Escape') this.#close();
    if (count === 0 || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
    event.preventDefault();
    this.#choose((this.#chosen + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
  }

  #choose(at: number): void {
    this.#chosen = at;
    for (const [index, item] of [...this.#list.children].entries()) {
      item.ariaSelected = String(index === at);
      if (index === at) item.scrollIntoView({ block: 'nearest' });
    }
    if (at < 0) this.#field.removeAttribute('aria-activedescendant');
    else this.#field.setAttribute('aria-activedescendant', `found-${at}`);
  }

  #close(): void {
    this.#list.replaceChildren();
    this.#list.hidden = true;
    this.#field.ariaExpanded = 'false';
    this.#status.textContent = '';
    this.#choose(-1);
  }

  #links(): HTMLAnchorElement[] {
    return [...this.#list.querySelectorAll('a')];
  }
}
