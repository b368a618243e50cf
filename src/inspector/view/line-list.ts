export interface ListedLine {
  readonly text: string;
  /** A note at the end of the line, such as a time. */
  readonly note?: string | undefined;
  /** Lines of bookkeeping step back. */
  readonly isMinor?: boolean;
  /** The sign of a line that a difference takes away or adds. */
  readonly sign?: '-' | '+' | undefined;
}

/** A margin before the lines, in which they are marked by a click or F9. */
interface LineMargin {
  /** The meaning of a mark, for those who do not see it. */
  readonly label: string;
  onToggle(line: number): void;
}

const LINE_HEIGHT = 19;
/** Lines above and below what is in sight. */
const SPARE_LINES = 8;

/** A list of any number of lines, of which those in sight are in the page. One line can be chosen. */
export class LineList {
  static #count = 0;
  readonly root: HTMLElement;
  readonly #space: HTMLElement;
  readonly #onSelect: (line: number) => void;
  readonly #id = `weft-lines-${++LineList.#count}`;
  #lines: readonly ListedLine[] = [];
  #marked: ReadonlySet<number> = new Set();
  #inMargin: ReadonlySet<number> = new Set();
  readonly #margin: LineMargin | undefined;
  #current: number | undefined;

  constructor(label: string, onSelect: (line: number) => void, margin?: LineMargin) {
    this.#onSelect = onSelect;
    this.#margin = margin;
    this.root = document.createElement('div');
    this.root.className = 'lines';
    this.root.tabIndex = 0;
    this.root.setAttribute('role', 'listbox');
    this.root.setAttribute('aria-label', label);
    this.#space = document.createElement('div');
    this.#space.setAttribute('role', 'presentation');
    this.root.append(this.#space);
    this.root.addEventListener('scroll', () => this.#render(), { passive: true });
    this.root.addEventListener('keydown', (event) => this.#key(event));
    this.root.addEventListener('click', (event) => {
      const clicked = event.target as Element;
      const line = clicked.closest<HTMLElement>('[data-line]')?.dataset['line'];
      if (line === undefined) return;
      if (clicked.closest('.line-margin') !== null) margin?.onToggle(Number(line));
      else this.#choose(Number(line));
    });
    new ResizeObserver(() => this.#render()).observe(this.root);
  }

  show(lines: readonly ListedLine[]): void {
    this.#lines = lines;
    this.#marked = new Set();
    this.#current = undefined;
    // Set through the style object, which a policy against inline styles allows.
    this.#space.style.blockSize = `${lines.length * LINE_HEIGHT}px`;
    this.root.scrollTop = 0;
    this.#render();
  }

  /** Marks lines, and scrolls to the first of them unless one is in sight. */
  mark(lines: ReadonlySet<number>): void {
    this.#marked = lines;
    const [first] = lines;
    this.#current = first;
    const [begin, end] = this.#inSight();
    if (first !== undefined && ![...lines].some((line) => line > begin && line < end - 1)) {
      this.root.scrollTop = Math.max(0, first * LINE_HEIGHT - this.root.clientHeight / 2);
    }
    this.#render();
  }

  markMargin(lines: ReadonlySet<number>): void {
    this.#inMargin = lines;
    this.#render();
  }

  #inSight(): [begin: number, end: number] {
    const { scrollTop, clientHeight } = this.root;
    return [
      Math.floor(scrollTop / LINE_HEIGHT),
      Math.ceil((scrollTop + clientHeight) / LINE_HEIGHT),
    ];
  }

  #render(): void {
    const [begin, end] = this.#inSight();
    const rows: HTMLElement[] = [];
    for (let i = Math.max(0, begin - SPARE_LINES); i < end + SPARE_LINES; i++) {
      const line = this.#lines[i];
      if (line !== undefined) rows.push(this.#row(i, line));
    }
    this.#space.replaceChildren(...rows);
    const hasCurrent =
      this.#current !== undefined && rows.some(({ id }) => id === this.#rowId(this.#current));
    if (hasCurrent) this.root.setAttribute('aria-activedescendant', this.#rowId(this.#current));
    else this.root.removeAttribute('aria-activedescendant');
  }

  #rowId(line: number | undefined): string {
    return `${this.#id}-${line}`;
  }

  #row(number: number, { text, note, isMinor = false, sign }: ListedLine): HTMLElement {
    const row = document.createElement('div');
    row.id = this.#rowId(number);
    row.className = 'line';
    row.dataset['line'] = String(number);
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(this.#marked.has(number)));
    row.setAttribute('aria-setsize', String(this.#lines.length));
    row.setAttribute('aria-posinset', String(number + 1));
    row.toggleAttribute('data-minor', isMinor);
    row.style.transform = `translateY(${number * LINE_HEIGHT}px)`;
    row.textContent = sign === undefined ? text : `${sign} ${text}`;
    if (sign !== undefined) row.dataset['sign'] = sign;
    if (this.#margin !== undefined) row.prepend(this.#marginOf(number, this.#margin));
    if (note !== undefined) {
      const span = document.createElement('span');
      span.className = 'line-note';
      span.textContent = note;
      row.append(span);
    }
    return row;
  }

  #marginOf(line: number, { label }: LineMargin): HTMLElement {
    const margin = document.createElement('span');
    margin.className = 'line-margin';
    const isMarked = this.#inMargin.has(line);
    margin.toggleAttribute('data-marked', isMarked);
    if (!isMarked) return margin;
    const text = document.createElement('span');
    text.className = 'visually-hidden';
    text.textContent = `${label}, `;
    margin.append(text);
    return margin;
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'F9' && this.#margin !== undefined && this.#current !== undefined) {
      event.preventDefault();
      this.#margin.onToggle(this.#current);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (step === undefined || this.#lines.length === 0) return;
    event.preventDefault();
    const next = this.#current === undefined ? this.#inSight()[0] : this.#current + step;
    this.#choose(Math.max(0, Math.min(this.#lines.length - 1, next)));
  }

  #choose(line: number): void {
    this.mark(new Set([line]));
    this.#onSelect(line);
  }
}
