import { formatMs } from './format-quantity.ts';
import { element, toggleData } from './element.ts';

/** Time of a primitive function in the last run, over all its launches. */
export interface PrimitiveTime {
  readonly launches: number;
  readonly durationMs: number | undefined;
}

interface ListingLine {
  readonly line: HTMLElement;
  readonly time: HTMLElement;
  readonly text: string;
}

/** So long lines are coloured or marked before the page gets its turn. */
const SLICE_MS = 8;

/** Lines that are laid out together, once they come into view. */
const BLOCK_LINES = 50;

/** Lines that stay visible above the first call. */
const CONTEXT_LINES = 3;

const TOKEN =
  /(?<comment>[;#].*$|\/\/.*$)|(?<register>%\w+)|(?<keyword>\b(?:call|ret|if|goto|function|func|def|const|primitive)\b)|(?<name>[A-Za-z_][\w.$-]*)/gm;

/** An executable's text, with the calls of kernels marked and their last times beside them. */
export class ListingView {
  readonly root: HTMLPreElement;
  #lines: readonly ListingLine[] = [];
  #marked = new Map<HTMLElement, string>();
  /** What {@link mark} was called with last. */
  #kernels: ReadonlyMap<string, PrimitiveTime> = new Map();
  /** Whether lines are being made or marked; at its end that goes on with what was asked for last. */
  #isBusy = false;
  #selected: string | undefined;
  #hasScrolled = false;

  constructor() {
    this.root = element('pre', {
      class: 'listing',
      tabindex: 0,
      role: 'region',
      'aria-label': 'Listing of the executable',
    });
  }

  show(text: string): void {
    this.#marked.clear();
    this.root.replaceChildren();
    this.#hasScrolled = false;
    this.#isBusy = true;
    const none = new Map();
    this.#kernels = none;
    const lines: ListingLine[] = [];
    this.#lines = lines;
    let block: HTMLElement | undefined;
    this.#inSlices(
      text.trimEnd().split('\n'),
      (source) => {
        const time = element('span', { class: 'listing-time' });
        const line = element('span', { class: 'listing-line' }, ...colour(source, undefined), time);
        if (block === undefined || lines.length % BLOCK_LINES === 0) {
          block = element('span', { class: 'listing-block' });
          this.root.append(block);
        }
        block.append(line);
        lines.push({ line, time, text: source });
      },
      () => this.#goOn(none),
    );
  }

  /** What was asked for while lines were made or marked. */
  #goOn(done: ReadonlyMap<string, PrimitiveTime>): void {
    this.#isBusy = false;
    if (this.#kernels !== done) this.mark(this.#kernels);
  }

  /** Does something for each line in slices, between which the page is free: a program may have thousands. */
  #inSlices<T>(each: readonly T[], work: (one: T) => void, done: () => void, first = 0): void {
    const lines = this.#lines;
    const started = performance.now();
    for (let i = first; i < each.length; i++) {
      if (performance.now() - started > SLICE_MS) {
        setTimeout(() => {
          if (this.#lines === lines) this.#inSlices(each, work, done, i);
        });
        return;
      }
      work(each[i] as T);
    }
    done();
  }

  /** Marks calls of `kernels`, keyed by the primitive's name: in tasks that come after this one. */
  mark(kernels: ReadonlyMap<string, PrimitiveTime>): void {
    this.#kernels = kernels;
    // Runs may come faster than all lines are marked.
    if (this.#isBusy) return;
    this.#isBusy = true;
    const lines = this.#lines;
    setTimeout(() => {
      if (this.#lines !== lines) return;
      const given = this.#kernels;
      const done = (): void => {
        this.#scrollToCalls();
        this.#goOn(given);
      };
      this.#inSlices(lines, (line) => this.#markLine(line), done);
    });
  }

  #markLine({ line, time, text }: ListingLine): void {
    const callee = calledKernel(text, this.#kernels);
    if (this.#marked.get(line) !== callee) line.replaceChildren(...colour(text, callee), time);
    if (callee === undefined) this.#marked.delete(line);
    else this.#marked.set(line, callee);
    toggleData(line, 'kernel', callee !== undefined);
    toggleData(line, 'selected', callee !== undefined && callee === this.#selected);
    time.textContent = callee === undefined ? '' : timeText(this.#kernels.get(callee));
  }

  /**
   * Once for each executable, so that the first run shows what was called. Where a line stands is asked after the frame
   * that shows the marks: before it, the question lays out the whole listing.
   */
  #scrollToCalls(): void {
    const [first] = this.#marked.keys();
    if (first === undefined || this.#hasScrolled) return;
    this.#hasScrolled = true;
    requestAnimationFrame(() => {
      setTimeout(() => {
        if (first.isConnected) this.#scrollTo(first, CONTEXT_LINES * first.offsetHeight);
      });
    });
  }

  #scrollTo(line: HTMLElement, above: number): void {
    this.root.scrollTop = Math.max(0, line.offsetTop - this.root.offsetTop - above);
  }

  /** Brings out the calls of one kernel; undefined: of none. */
  select(kernel: string | undefined): void {
    this.#selected = kernel;
    let first: HTMLElement | undefined;
    for (const [line, name] of this.#marked) {
      const isSelected = name === kernel;
      toggleData(line, 'selected', isSelected);
      if (isSelected) first ??= line;
    }
    if (first !== undefined) this.#scrollTo(first, this.root.clientHeight / 2);
  }
}

function timeText(time: PrimitiveTime | undefined): string {
  if (time === undefined) return '';
  const launches = time.launches === 1 ? '' : `${time.launches}×, `;
  return time.durationMs === undefined ? launches : `${launches}${formatMs(time.durationMs)}`;
}

/** The kernel that a line of code calls. */
function calledKernel(
  text: string,
  kernels: ReadonlyMap<string, PrimitiveTime>,
): string | undefined {
  if (!/\bcall\b/.test(text)) return undefined;
  return text.match(/[A-Za-z_][\w.$-]*/g)?.find((word) => kernels.has(word));
}

function colour(text: string, callee: string | undefined): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = tokenKind(match, callee);
    if (kind === undefined) continue;
    parts.push(text.slice(end, match.index), element('span', { class: `token-${kind}` }, match[0]));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end) || (parts.length === 0 ? ' ' : ''));
  return parts;
}

function tokenKind(match: RegExpMatchArray, callee: string | undefined): string | undefined {
  const { comment, register, keyword, name } = match.groups ?? {};
  if (comment !== undefined) return 'comment';
  if (register !== undefined) return 'register';
  if (keyword !== undefined) return 'keyword';
  return name !== undefined && name === callee ? 'kernel' : undefined;
}
